//! The commands that a run starts because its words say so: `sh -c TEXT`, `xargs PROGRAM`, `find -exec`, `timeout 5 PROGRAM`.
