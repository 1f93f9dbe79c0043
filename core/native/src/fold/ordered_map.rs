//! Maps that keep the order of insertion, as Python's dicts do.
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// A map with a quick hash, whose seed no log can know.
pub type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

#[derive(Clone)]
pub struct OrderedMap<K, V> {
    entries: FastMap<K, (u64, V)>,
    next: u64,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        OrderedMap {
            entries: FastMap::default(),
            next: 0,
        }
    }
}

impl<K: Eq + Hash, V> OrderedMap<K, V> {
    /// Put a value in, and return the old one; a known key keeps its place.
    pub fn put(&mut self, key: K, value: V) -> Option<V> {
        match self.entries.get_mut(&key) {
            Some((_, place)) => Some(std::mem::replace(place, value)),
            None => {
                self.entries.insert(key, (self.next, value));
                self.next += 1;
                None
            }
        }
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.entries.remove(key).map(|(_, value)| value)
    }

    pub fn has(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn in_order(&self) -> Vec<(&K, &V)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(_, (since, _))| *since);
        entries
            .into_iter()
            .map(|(key, (_, value))| (key, value))
            .collect()
    }
}

/// Texts that come again and again, by number.
#[derive(Clone, Default)]
pub struct Texts {
    numbers: FastMap<Arc<str>, u32>,
    all: Vec<Arc<str>>,
}

impl Texts {
    /// The number of a text, which is the same each time.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let (number, text) = (self.all.len() as u32, Arc::<str>::from(text));
        self.all.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The number of a text that had one before.
    pub fn known(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub fn text(&self, number: u32) -> &str {
        self.all.get(number as usize).map_or("", |text| text)
    }
}

/// Maps of maps; a map that gets empty is removed.
pub type NestedMap<K, L> = OrderedMap<K, OrderedMap<L, u64>>;

impl<K: Eq + Hash + Clone, L: Eq + Hash> OrderedMap<K, OrderedMap<L, u64>> {
    /// The number of entries of all inner maps.
    pub fn inner_len(&self) -> usize {
        self.entries.values().map(|(_, inner)| inner.len()).sum()
    }

    pub fn put_in(&mut self, outer: &K, inner: L, address: u64) -> Option<u64> {
        if let Some(table) = self.get_mut(outer) {
            return table.put(inner, address);
        }
        let mut table = OrderedMap::default();
        table.put(inner, address);
        self.put(outer.clone(), table);
        None
    }

    pub fn remove_from(&mut self, outer: &K, inner: &L) -> Option<u64> {
        let table = self.get_mut(outer)?;
        let since = table.remove(inner);
        if table.is_empty() {
            self.remove(outer);
        }
        since
    }
}
