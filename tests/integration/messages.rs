//! What people read: messages, advice that exists, and counts that add up.
