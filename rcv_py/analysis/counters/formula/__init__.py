"""The language of derived counters: `name := expression` over tensors of counters."""
