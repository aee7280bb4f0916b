//! Values that readers derived from a repository and that the same command will ask for again, such as the entries of its
//! ledger.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// By type the newest that was made.
#[derive(Default)]
pub struct Products(RefCell<HashMap<TypeId, Product>>);

/// Something, and what it was made from.
struct Product {
    source: String,
    made: Rc<dyn Any>,
}

impl Products {
    /// What was made from `source`, if that was the newest of its type.
    pub fn get<T: Any>(&self, source: &str) -> Option<Rc<T>> {
        let made = self.0.borrow();
        let known = made.get(&TypeId::of::<T>()).filter(|known| known.source == source)?;
        Rc::clone(&known.made).downcast().ok()
    }

    /// Keeps what was made from `source` in the place of what was made before.
    pub fn keep<T: Any>(&self, source: String, made: Rc<T>) {
        self.0.borrow_mut().insert(TypeId::of::<T>(), Product { source, made });
    }
}
