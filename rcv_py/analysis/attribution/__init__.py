"""Attribution of every stalled and idle cycle: its cause, the evidence, and the responsible instruction."""
