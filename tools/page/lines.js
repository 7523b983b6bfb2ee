// Lights the lines that belong together in all listings, by pointer, keyboard and address.
"use strict";
document.documentElement.classList.add("scripted"); // else the style sheet marks the address's line
const panes = [...document.querySelectorAll(".pane")].filter((pane) => pane.querySelector(".line"));
const lines = [...document.querySelectorAll(".line")];
const byPlace = new Map(); // of the user's lines: the lines of all panes that belong to one
for (const line of lines) {
  line.places = line.dataset.places.split(" ").filter(Boolean);
  for (const place of line.places) {
    byPlace.set(place, [...(byPlace.get(place) ?? []), line]);
  }
}
let pinned = null;

function related(line) {
  return new Set(line.places.flatMap((place) => byPlace.get(place)));
}

// Of the lines of a listing that belong to one, the first that belongs to the fewest others.
function nearest(line, pane) {
  const inside = [...related(line)].filter((each) => pane.contains(each));
  const fewest = Math.min(...inside.map((each) => each.places.length));
  return inside.find((each) => each.places.length === fewest) ?? null;
}

function light(line) {
  const lit = line ? related(line).add(line) : new Set();
  for (const each of lines) each.classList.toggle("lit", lit.has(each));
}

function tell(line) {
  const others = [...related(line)];
  const counts = panes
    .filter((pane) => pane !== line.closest(".pane"))
    .map((pane) => [others.filter((each) => pane.contains(each)).length, pane])
    .filter(([count]) => count)
    .map(([count, pane]) => count + " in " + pane.querySelector(".title").textContent);
  const text = counts.length ? "belongs to lines: " + counts.join("; ") : "belongs to no other line";
  document.getElementById("status").textContent = text;
}

function pin(line) {
  pinned?.classList.remove("pinned");
  pinned?.querySelector(".number").removeAttribute("aria-current");
  pinned = line;
  light(line);
  if (!line) return;
  line.classList.add("pinned");
  line.querySelector(".number").setAttribute("aria-current", "true");
  tell(line);
  for (const pane of panes) {
    const first = nearest(line, pane);
    if (first && !pane.contains(line)) scrollTo(first, 1 / 3);
  }
}

// Scrolls a listing, and nothing else, until a line is at a part of its height.
function scrollTo(line, part) {
  const list = line.parentElement;
  if (list.scrollHeight <= list.clientHeight) return;
  const distance = line.getBoundingClientRect().top - list.getBoundingClientRect().top;
  list.scrollTop += distance - part * list.clientHeight;
}

function pinAddress() {
  const target = document.getElementById(location.hash.slice(1));
  const line = target?.classList.contains("line") ? target : null;
  focus(line);
  pin(line);
}

function focus(line) {
  if (!line) return;
  for (const each of line.parentElement.children) {
    each.querySelector(".number").tabIndex = each === line ? 0 : -1;
  }
  line.querySelector(".number").focus();
}

function beside(line, step) {
  let k = panes.indexOf(line.closest(".pane")) + step;
  while (panes[k] && !nearest(line, panes[k])) k += step;
  return panes[k] ? nearest(line, panes[k]) : null;
}

// Browsers tell of a pointer that rests, too, when a pin or a key scrolls the page under it.
let pointer = null; // where it is
function point(event) {
  const before = pointer;
  pointer = event.clientX + " " + event.clientY;
  if (pointer !== before) light(event.target.closest(".line") ?? pinned);
}
document.addEventListener("pointerover", point);
document.addEventListener("pointermove", point);
document.addEventListener("wheel", () => (pointer = null), { passive: true });
document.addEventListener("focusin", (event) => {
  const line = event.target.closest(".line");
  if (!line) return;
  light(line);
  tell(line);
});
document.addEventListener("focusout", () => light(pinned));
document.addEventListener("click", (event) => {
  const line = event.target.closest(".line");
  if (!line || event.target.closest("a") || String(getSelection())) return;
  location.hash = line.id === location.hash.slice(1) ? "" : line.id;
});
document.addEventListener("keydown", (event) => {
  const line = document.activeElement.closest(".line");
  if (event.key === "Escape") {
    history.replaceState(null, "", location.pathname + location.search);
    pin(null);
  }
  if (!line || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = line.parentElement;
  const steps = {
    ArrowDown: () => line.nextElementSibling,
    ArrowUp: () => line.previousElementSibling,
    ArrowRight: () => beside(line, 1),
    ArrowLeft: () => beside(line, -1),
    Home: () => all.firstElementChild,
    End: () => all.lastElementChild,
  };
  if (event.key in steps) {
    event.preventDefault();
    focus(steps[event.key]());
  }
});
window.addEventListener("hashchange", pinAddress);
for (const pane of panes) {
  const first = pane.querySelector('.line:not([data-places=""])');
  if (first) scrollTo(first, 0); // past what all modules begin with
  const numbers = pane.querySelectorAll(".line > .number");
  numbers.forEach((number, k) => (number.tabIndex = k ? -1 : 0));
}
window.addEventListener("load", pinAddress); // after the browser went to the line by itself
