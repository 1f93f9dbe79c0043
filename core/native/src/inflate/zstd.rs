//! Zstandard by the libzstd of Python's module, else by the system's: Python makes a decompressor
//! for each frame, which takes longer than a small one.
#![allow(unsafe_code)]

use libloading::{Library, Symbol};
use pyo3::prelude::*;
use pyo3::sync::OnceLockExt;
use std::ffi::{c_uint, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The name that libzstd has had since version 1.0; its functions used here are of 1.4.0 or older.
const LIBRARY: &str = "libzstd.so.1";
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// All decompressors must read windows of 8 MiB (RFC 8878, 3.1.1.1.2); larger ones are a question
/// of the memory budget.
const MOST_WINDOW_LOG: u8 = 23;
/// The smallest window of the format, 1 KiB (RFC 8878, 3.1.1.1.2).
const LEAST_WINDOW_LOG: u8 = 10;

struct Functions {
    create: unsafe extern "C" fn() -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void) -> usize,
    decompress:
        unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *const c_void, usize) -> usize,
    frame_size: unsafe extern "C" fn(*const c_void, usize) -> usize,
    is_error: unsafe extern "C" fn(usize) -> c_uint,
}

impl Functions {
    /// The functions of a library, loaded once and kept; None without one.
    fn loaded(py: Python) -> Option<&'static Functions> {
        static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
        let load = || {
            let of_python = library_of_python(py).ok();
            // They differ about damaged frames: libzstd 1.5.4 inflates some that 1.5.7 refuses.
            let load = of_python.as_deref().and_then(Functions::load);
            load.or_else(|| Functions::load(LIBRARY))
        };
        FUNCTIONS.get_or_init_py_attached(py, load).as_ref()
    }

    fn load(path: &str) -> Option<Functions> {
        // SAFETY: libzstd has no initialisers, and stays loaded: it is never dropped. The types
        // are those of zstd.h.
        unsafe {
            let library: &Library = Box::leak(Box::new(Library::new(path).ok()?));
            fn of<T: Copy>(symbol: Result<Symbol<T>, libloading::Error>) -> Option<T> {
                symbol.ok().map(|symbol| *symbol)
            }
            Some(Functions {
                create: of(library.get(b"ZSTD_createDCtx\0"))?,
                free: of(library.get(b"ZSTD_freeDCtx\0"))?,
                decompress: of(library.get(b"ZSTD_decompressDCtx\0"))?,
                frame_size: of(library.get(b"ZSTD_findFrameCompressedSize\0"))?,
                is_error: of(library.get(b"ZSTD_isError\0"))?,
            })
        }
    }
}

/// The extension of Python's module, which has libzstd in it, or is linked to it.
fn library_of_python(py: Python) -> PyResult<String> {
    let module = py
        .import("kraftops.log.codecs")?
        .call_method0("zstd_module")?;
    module.getattr("_zstd")?.getattr("__file__")?.extract()
}

/// A context of libzstd, which is made for the first frame and serves all others.
#[derive(Default)]
pub struct Decompressor {
    context: Option<Context>,
}

impl Decompressor {
    /// Write the inflated bytes of a single frame to *room*, and return their number; None of what
    /// is not ordinary.
    pub fn inflate(&mut self, py: Python, stored: &[u8], room: &mut [u8]) -> Option<usize> {
        if !has_small_window(stored)? {
            return None;
        }
        if self.context.is_none() {
            self.context = Context::new(py);
        }
        self.context.as_mut()?.inflate(stored, room)
    }
}

/// Tell whether *stored* begins with a frame whose window any decompressor reads.
fn has_small_window(stored: &[u8]) -> Option<bool> {
    let (&descriptor, &window) = (stored.get(4)?, stored.get(5)?);
    // The window of a single segment is its content (RFC 8878, 3.1.1.1.1), which the room bounds.
    let is_single_segment = descriptor & 0x20 != 0;
    let is_small = is_single_segment || LEAST_WINDOW_LOG + (window >> 3) < MOST_WINDOW_LOG;
    Some(stored.starts_with(&MAGIC) && is_small)
}

struct Context {
    functions: &'static Functions,
    context: NonNull<c_void>,
}

// SAFETY: a context may be used by any thread, but only by one at a time (zstd.h).
unsafe impl Send for Context {}

impl Context {
    fn new(py: Python) -> Option<Context> {
        let functions = Functions::loaded(py)?;
        // SAFETY: it takes no arguments; what it returns is freed once, when this is dropped.
        let context = NonNull::new(unsafe { (functions.create)() })?;
        Some(Context { functions, context })
    }

    fn inflate(&mut self, stored: &[u8], room: &mut [u8]) -> Option<usize> {
        let Context { functions, context } = self;
        let (from, to) = (stored.as_ptr().cast(), room.as_mut_ptr().cast());
        // SAFETY: both pointers are to as many bytes as the sizes say; the context is alive, and
        // no other thread has it: it is lent as mutable.
        unsafe {
            if (functions.frame_size)(from, stored.len()) != stored.len() {
                return None; // several frames, a cut one, or bytes that are not a frame
            }
            let size = (functions.decompress)(context.as_ptr(), to, room.len(), from, stored.len());
            ((functions.is_error)(size) == 0).then_some(size)
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context was made by the same library, and is not used afterwards.
        unsafe { (self.functions.free)(self.context.as_ptr()) };
    }
}
