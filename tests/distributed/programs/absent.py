"""One process fails before it joins the other."""

import os

import tapeless

if os.environ["PMI_RANK"] == "1":
    raise ValueError("the cause")
tapeless.distributed.initialize(initialization_timeout=2.0)
