//! The choice of configurations that are secret, by the type of their resource and their names.
use pyo3::prelude::*;
use std::collections::{HashMap, HashSet};

const LISTENER: &[u8] = b"listener.name.";
/// What a dot of Java's regular expressions does not match, in UTF-8.
const LINE_ENDS: [&[u8]; 5] = [b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"];

/// Public keys: a configuration is secret if it is none of them; see
/// `kraftops.records.secrets.rules.is_secret_config`.
pub struct Configs {
    public: HashMap<i8, HashSet<Vec<u8>>>,
    /// The type of resource that has keys of listeners.
    server: i8,
    /// Keys with a mechanism between the listener and their name.
    of_mechanisms: Vec<Vec<u8>>,
}

impl Configs {
    pub fn compile(described: &Bound<PyAny>) -> PyResult<Configs> {
        type Described = (HashMap<i8, Vec<String>>, i8, Vec<String>);
        let (public, server, of_mechanisms): Described = described.extract()?;
        let bytes = |names: Vec<String>| names.into_iter().map(String::into_bytes);
        Ok(Configs {
            public: public
                .into_iter()
                .map(|(code, names)| (code, bytes(names).collect()))
                .collect(),
            server,
            of_mechanisms: bytes(of_mechanisms).collect(),
        })
    }

    pub fn is_secret(&self, resource_type: i8, name: &[u8]) -> bool {
        let Some(public) = self.public.get(&resource_type) else {
            return true;
        };
        if public.contains(name) {
            return false;
        }
        resource_type != self.server
            || self
                .overridden(name)
                .is_none_or(|name| !public.contains(name))
    }

    /// The key of a server that a key of a listener overrides.
    fn overridden<'a>(&'a self, name: &'a [u8]) -> Option<&'a [u8]> {
        let rest = name.strip_prefix(LISTENER)?;
        let key = rest.get(rest.iter().position(|byte| *byte == b'.')? + 1..)?;
        let has = |end: &[u8]| key.windows(end.len()).any(|part| part == end);
        if LINE_ENDS.iter().any(|end| has(end)) {
            return None;
        }
        let mut named = self
            .of_mechanisms
            .iter()
            .filter(|ending| key.ends_with(ending));
        Some(named.next().map_or(key, Vec::as_slice))
    }
}
