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

/// The bits of an address; those above have the number of a reason.
const ADDRESS_BITS: u32 = 56;
const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// Records in a chunk.
const CHUNK: usize = 1 << 13;
/// The number of a reason that has no room above an address.
const LATE: u64 = 255;

/// Records that were left out, in 8 bytes for each: a hostile log can have millions.
#[derive(Default, Clone)]
pub struct Dropped {
    /// Addresses, with the numbers of the first reasons above them, in full chunks but the last:
    /// one list of millions would take twice its memory while it grows.
    places: Vec<Vec<u64>>,
    count: usize,
    /// The numbers of later reasons, by the index of the record.
    late: FastMap<usize, u32>,
    texts: Vec<Arc<str>>,
    known: FastMap<Arc<str>, u32>,
}

impl Dropped {
    pub fn count(&self) -> usize {
        self.count
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
        if u64::from(text_number) >= LATE {
            self.late.insert(self.count, text_number);
        }
        let above = u64::from(text_number).min(LATE);
        let place = above << ADDRESS_BITS | (address & ADDRESS);
        match self.places.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => last.push(place),
            None => self.places.push(vec![place]),
        }
        self.count += 1;
    }

    /// About the bytes of a copy.
    pub fn size(&self) -> usize {
        self.count * 8
    }

    /// Remove all but the first *count* records.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
        self.places.truncate(self.count.div_ceil(CHUNK));
        if let Some(last) = self.places.get_mut(self.count / CHUNK) {
            last.truncate(self.count % CHUNK);
        }
        self.late.retain(|index, _| *index < count);
    }

    pub fn get(&self, number: usize) -> Option<(u64, &str)> {
        let place = *self.places.get(number / CHUNK)?.get(number % CHUNK)?;
        let reason = match place >> ADDRESS_BITS {
            LATE => *self.late.get(&number)? as usize,
            reason => reason as usize,
        };
        Some((place & ADDRESS, self.texts.get(reason)?))
    }
}
