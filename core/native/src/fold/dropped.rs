//! Records that were left out, and the reasons.
use super::ordered_map::FastMap;
use std::sync::Arc;

/// Why a record cannot apply.
pub enum Reason {
    Fixed(&'static str),
    Made(String),
}

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Reason::Fixed(text)
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Reason::Made(text)
    }
}

impl Reason {
    pub fn text(&self) -> &str {
        match self {
            Reason::Fixed(text) => text,
            Reason::Made(text) => text,
        }
    }
}

/// Records that were left out, in 12 bytes for each: a hostile log can have millions.
#[derive(Default, Clone)]
pub struct Dropped {
    addresses: Vec<u64>,
    reasons: Vec<u32>,
    texts: Vec<Arc<str>>,
    known: FastMap<Arc<str>, u32>,
}

impl Dropped {
    pub fn count(&self) -> usize {
        self.addresses.len()
    }

    pub fn add(&mut self, address: u64, reason: &str) {
        let text_number = match self.known.get(reason) {
            Some(text_number) => *text_number,
            None => {
                let text: Arc<str> = reason.into();
                let text_number = self.texts.len() as u32;
                self.texts.push(Arc::clone(&text));
                self.known.insert(text, text_number);
                text_number
            }
        };
        self.addresses.push(address);
        self.reasons.push(text_number);
    }

    /// About the bytes of a copy.
    pub fn size(&self) -> usize {
        self.addresses.len() * 12
    }

    /// Remove all but the first *count* records.
    pub fn truncate(&mut self, count: usize) {
        self.addresses.truncate(count);
        self.reasons.truncate(count);
    }

    pub fn get(&self, number: usize) -> Option<(u64, &str)> {
        let reason = *self.reasons.get(number)? as usize;
        Some((*self.addresses.get(number)?, self.texts.get(reason)?))
    }
}
