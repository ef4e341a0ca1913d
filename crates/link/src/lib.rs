//! A unidirectional link as a pure state machine.
