//! One engine at every door: the same facts give the same decision, however they come in.
