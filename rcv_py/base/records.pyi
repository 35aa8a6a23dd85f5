from dataclasses import dataclass as dataclass
