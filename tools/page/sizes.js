// Writes the numbers of the page anew for other sizes: evaluates the formulas that it holds.

const formulas = JSON.parse(document.getElementById("formulas").textContent);
const unknown = NaN; // of an operator that this script does not have: shown as "?"

function remainder(a, b) {
  return b ? ((a % b) + b) % b : null; // as in Python, its sign is that of b
}

function quotient(a, b) {
  return b ? (a - remainder(a, b)) / b : null;
}

function passes(start, stop, step) { // of a loop over range(start, stop, step)
  if (!step) return null;
  const span = step > 0 ? stop - start : start - stop;
  return span > 0 ? quotient(span - 1, Math.abs(step)) + 1 : 0;
}

function middle(start, stop, step) {
  const count = passes(start, stop, step);
  return count === null ? null : start + step * quotient(count, 2);
}

function divisor(a, b) {
  return b ? divisor(b, remainder(a, b)) : Math.abs(a);
}

function bits(apply) {
  return (a, b) => Number(apply(BigInt(a), BigInt(b)));
}

const operators = {
  "+": (a, b) => a + b,
  "*": (a, b) => a * b,
  "//": quotient,
  "%": remainder,
  max: Math.max,
  min: Math.min,
  log2: Math.log2,
  passes,
  middle,
  // functions of NumPy, of integers
  add: (a, b) => a + b,
  subtract: (a, b) => a - b,
  multiply: (a, b) => a * b,
  floor_divide: (a, b) => quotient(a, b) ?? 0,
  remainder: (a, b) => remainder(a, b) ?? 0,
  maximum: Math.max,
  minimum: Math.min,
  negative: (a) => -a,
  positive: (a) => a,
  absolute: Math.abs,
  sign: Math.sign,
  square: (a) => a * a,
  power: (a, b) => (b < 0 ? null : a ** b),
  gcd: divisor,
  bitwise_and: bits((a, b) => a & b),
  bitwise_or: bits((a, b) => a | b),
  bitwise_xor: bits((a, b) => a ^ b),
  left_shift: bits((a, b) => a << b),
  right_shift: bits((a, b) => a >> b),
  invert: (a) => -a - 1,
};

// The number of each step for these sizes; null where there is none.
function evaluated(steps, sizes) {
  const values = [];
  for (const step of steps) {
    values.push(step ? stepValue(step, sizes, values) : null);
  }
  return values;
}

function stepValue([name, ...operands], sizes, values) {
  if (name === "number") return operands[0];
  if (name === "size") return sizes[operands[0]];
  const numbers = operands.map((k) => values[k]);
  if (name === "otherwise") return numbers.find((x) => x !== null) ?? null;
  if (numbers.includes(null)) return null;
  return name in operators && !numbers.some(Number.isNaN) ? operators[name](...numbers) : unknown;
}

// Texts of numbers, as Python writes them (`counted` and `in_bytes`).
function counted(number) {
  let step = 1;
  while (number >= 1000 * step) step *= 10;
  const rounded = Math.floor(number / step + 0.5) * step;
  for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (rounded >= size) return Number((rounded / size).toPrecision(3)) + " " + unit;
  }
  return String(rounded);
}

function inBytes(number) {
  const text = counted(number);
  return /\d$/.test(text) ? text + " B" : text + "B";
}

const formats = { count: counted, bytes: inBytes, length: String };
const written = [...document.querySelectorAll("[data-formula]")];
const ofCall = formulas.sizes.map((size) => size.value);
let sizes = [...ofCall];

function write() {
  const values = evaluated(formulas.steps, sizes);
  for (const element of written) {
    const number = values[element.dataset.formula];
    const told = number !== null && !Number.isNaN(number);
    element.textContent = told ? formats[element.dataset.as](number) : "?";
    const chip = element.closest("li.cost");
    if (chip) chip.hidden = number === 0;
  }
  document.documentElement.classList.toggle("resized", sizes.some((n, k) => n !== ofCall[k]));
  const unmet = formulas.requirements.filter(([, relation, a, b]) => {
    return !holds(relation, values[a], values[b]);
  });
  const text = unmet.length
    ? "Other code is made for these sizes, as this does not hold: " +
      unmet.map(([text]) => text).join(", ") + ". The numbers are those of the code below."
    : "";
  const shown = document.getElementById("requirements");
  if (shown && shown.textContent !== text) shown.textContent = text;
}

function holds(relation, a, b) {
  if (a === null || b === null) return false;
  if (Number.isNaN(a) || Number.isNaN(b)) return true; // nothing is known of it
  return relation === "==" ? a === b : relation === "!=" ? a !== b : a >= b;
}

function tellTotals() {
  const parts = [...document.querySelectorAll(".totals > div")].map((part) => {
    return part.querySelector("dd").textContent + " " + part.querySelector("dt").textContent;
  });
  document.getElementById("status").textContent = parts.join(", ");
}

// Where a slider stops: at the size of the call, and at sizes each some 9 % larger than the last.
function stops(size) {
  const first = Math.min(size.least ?? 0, size.value);
  const last = Math.max(1e6, 1000 * size.value);
  const all = new Set([size.value, last]);
  for (let n = first; n <= last; n = Math.max(n + 1, Math.round(n * 2 ** 0.125))) all.add(n);
  return [...all].sort((a, b) => a - b);
}

const controls = [...document.querySelectorAll(".size")].map((row) => {
  const k = Number(row.dataset.size);
  const [slider, field] = row.querySelectorAll("input");
  const places = stops(formulas.sizes[k]);
  slider.min = 0;
  slider.max = places.length - 1;
  slider.step = 1;

  function show() {
    const after = places.findIndex((n) => n > sizes[k]);
    slider.value = after < 0 ? places.length - 1 : Math.max(after - 1, 0);
    slider.setAttribute("aria-valuetext", String(sizes[k]));
  }

  function set(number) {
    sizes[k] = number;
    show();
    write();
  }

  slider.addEventListener("input", () => {
    set(places[slider.value]);
    field.value = sizes[k];
  });
  field.addEventListener("input", () => {
    if (field.value !== "" && field.validity.valid) set(Number(field.value));
  });
  for (const input of [slider, field]) input.addEventListener("change", tellTotals);
  show();
  return () => {
    field.value = ofCall[k];
    set(ofCall[k]);
  };
});
document.getElementById("sizes-of-call")?.addEventListener("click", () => {
  controls.forEach((reset) => reset());
  tellTotals();
});
