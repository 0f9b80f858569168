//! CUDA's driver library, loaded at run time: a machine without a device has none. Source of the interface: NVIDIA's `cuda.h`.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

use anyhow::{Context as _, anyhow, ensure};
use common::model::event::DeviceFacts;
use kernels::device::PTX;

/// Its file, which the loader finds.
const LIBRARY: &CStr = c"libcuda.so.1";

/// Variables of launchers with a process's number on the host, which is needed before MPI is initialised.
const LOCAL_RANK: &str = "MPI_LOCALRANKID OMPI_COMM_WORLD_LOCAL_RANK MV2_COMM_WORLD_LOCAL_RANK PALS_LOCAL_RANKID \
     PMI_LOCAL_RANK SLURM_LOCALID FLUX_TASK_LOCAL_ID";

/// `cuda.h`: the stream does not wait for the default one.
const NON_BLOCKING: c_uint = 1;

/// `cuda.h`: whether a multi-process service runs the device's clients.
const MPS_ENABLED: c_int = 133;

/// The functions that are used, with the names of the library's interface.
macro_rules! functions {
    ($($field:ident = $name:literal ($($argument:ty),*);)+) => {
        /// The loaded functions, with a context on a device and a stream there.
        pub struct Driver {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> c_int,)+
            pub(super) stream: usize,
            pub(super) module: usize,
            context: usize,
            /// A function of the stand-in in `kernels/device`.
            counter: Option<unsafe extern "C" fn() -> u64>,
        }

        impl Driver {
            fn load(library: *mut c_void) -> anyhow::Result<Self> {
                let symbol = |name: &CStr| {
                    // SAFETY: the library was loaded, and is never closed.
                    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
                    ensure!(!address.is_null(), "the driver library has no {}", name.to_string_lossy());
                    Ok(address)
                };
                Ok(Self {
                    // SAFETY: the interfaces of `cuda.h`.
                    $($field: unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(symbol($name)?) },)+
                    stream: 0,
                    module: 0,
                    context: 0,
                    // SAFETY: the interface of the stand-in.
                    counter: symbol(c"ddtbench_device_copies").ok().map(|address| unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u64>(address)
                    }),
                })
            }
        }
    };
}

functions! {
    initialize = c"cuInit" (c_uint);
    version = c"cuDriverGetVersion" (*mut c_int);
    device_count = c"cuDeviceGetCount" (*mut c_int);
    device = c"cuDeviceGet" (*mut c_int, c_int);
    device_name = c"cuDeviceGetName" (*mut c_char, c_int, c_int);
    bus_address = c"cuDeviceGetPCIBusId" (*mut c_char, c_int, c_int);
    device_attribute = c"cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    retain_context = c"cuDevicePrimaryCtxRetain" (*mut usize, c_int);
    set_context = c"cuCtxSetCurrent" (usize);
    allocate = c"cuMemAlloc_v2" (*mut u64, usize);
    free = c"cuMemFree_v2" (u64);
    allocate_managed = c"cuMemAllocManaged" (*mut u64, usize, c_uint);
    allocate_host = c"cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
    free_host = c"cuMemFreeHost" (*mut c_void);
    mapped_address = c"cuMemHostGetDevicePointer_v2" (*mut u64, *mut c_void, c_uint);
    memory = c"cuMemGetInfo_v2" (*mut usize, *mut usize);
    copy = c"cuMemcpyAsync" (u64, u64, usize, usize);
    copy_2d = c"cuMemcpy2DAsync_v2" (*const super::rows::Copy2d, usize);
    create_stream = c"cuStreamCreate" (*mut usize, c_uint);
    synchronize_stream = c"cuStreamSynchronize" (usize);
    load_module = c"cuModuleLoadData" (*mut usize, *const c_void);
    kernel = c"cuModuleGetFunction" (*mut usize, usize, *const c_char);
    launch = c"cuLaunchKernel" (
        usize, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, usize, *mut *mut c_void, *mut *mut c_void
    );
    error_name = c"cuGetErrorName" (c_int, *mut *const c_char);
}

/// The driver, once it was opened.
static DRIVER: OnceLock<(Driver, DeviceFacts)> = OnceLock::new();

/// The driver.
///
/// # Panics
/// If it was not opened: only memory on a device needs it.
#[inline]
pub fn driver() -> &'static Driver {
    &DRIVER.get().expect("opened before there is memory on a device").0
}

/// The device of this process, if one was opened.
pub fn facts() -> Option<&'static DeviceFacts> {
    DRIVER.get().map(|(_, facts)| facts)
}

/// Loads the driver, and makes a context on the device of this process: that of its number on the host.
pub fn open() -> anyhow::Result<()> {
    // SAFETY: the name is NUL-terminated; the user wants the driver to be loaded.
    let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if library.is_null() {
        return Err(anyhow!(
            "--memory needs a device and its driver, but {} cannot be loaded here; without a device, `--memory simulated` counts copies",
            LIBRARY.to_string_lossy()
        ));
    }
    let mut driver = Driver::load(library)?;
    let facts = driver.begin().context("--memory needs a device")?;
    DRIVER.get_or_init(|| (driver, facts));
    Ok(())
}

/// Lets the calling thread use the device, if one was opened.
pub fn use_here() {
    if let Some((driver, _)) = DRIVER.get() {
        // SAFETY: the context exists as long as the process.
        driver.check("cuCtxSetCurrent", unsafe { (driver.set_context)(driver.context) });
    }
}

/// Free memory of this process's device, in bytes; `None` if it has none.
pub fn available_bytes() -> Option<u64> {
    let driver = &DRIVER.get()?.0;
    let (mut free, mut total) = (0, 0);
    // SAFETY: both pointers live through the call.
    driver.check("cuMemGetInfo", unsafe { (driver.memory)(&raw mut free, &raw mut total) });
    Some(free as u64)
}

/// Copies that the driver has made for this process, if there is one that counts them.
#[inline]
pub fn copies() -> Option<u64> {
    let counter = DRIVER.get()?.0.counter?;
    // SAFETY: a function without conditions.
    Some(unsafe { counter() })
}

/// Waits for everything that was begun on the stream.
#[inline]
pub fn synchronize() {
    let driver = driver();
    // SAFETY: the stream is live.
    driver.check("cuStreamSynchronize", unsafe { (driver.synchronize_stream)(driver.stream) });
}

/// Copies bytes between memories of any kind, and waits for it.
///
/// # Safety
/// Both ranges exist and are not used otherwise.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { driver().copy_now(to as u64, from as u64, bytes) };
}

impl Driver {
    /// Makes a context, a stream, and the module with the kernels.
    fn begin(&mut self) -> anyhow::Result<DeviceFacts> {
        let local =
            LOCAL_RANK.split_whitespace().find_map(|name| std::env::var(name).ok()?.parse::<c_int>().ok());
        let (mut version, mut count, mut device, mut context) = (0, 0, 0, 0);
        let (mut stream, mut module) = (0, 0);
        let (mut name, mut bus) = ([0_u8; 256], [0_u8; 64]);
        let mut mps = 0;
        let has_mps;
        // SAFETY: all pointers live through the calls, and strings are NUL-terminated.
        unsafe {
            self.result("cuInit", (self.initialize)(0))?;
            self.result("cuDriverGetVersion", (self.version)(&raw mut version))?;
            self.result("cuDeviceGetCount", (self.device_count)(&raw mut count))?;
            ensure!(count > 0, "the driver finds no device");
            ensure!(
                local.is_some() || count == 1,
                "there are {count} devices, and the launcher sets none of {}, by which each rank takes its own; \
                 with CUDA_VISIBLE_DEVICES each may see one",
                LOCAL_RANK.replace(' ', ", ")
            );
            let local = local.unwrap_or(0);
            self.result("cuDeviceGet", (self.device)(&raw mut device, local % count))?;
            self.result("cuDeviceGetName", (self.device_name)(name.as_mut_ptr().cast(), 255, device))?;
            self.result("cuDeviceGetPCIBusId", (self.bus_address)(bus.as_mut_ptr().cast(), 63, device))?;
            let is_known = (self.device_attribute)(&raw mut mps, MPS_ENABLED, device) == 0;
            has_mps = is_known.then_some(mps != 0);
            self.result("cuDevicePrimaryCtxRetain", (self.retain_context)(&raw mut context, device))?;
            self.result("cuCtxSetCurrent", (self.set_context)(context))?;
            self.result("cuStreamCreate", (self.create_stream)(&raw mut stream, NON_BLOCKING))?;
            let text = CString::new(PTX)?;
            self.result("cuModuleLoadData", (self.load_module)(&raw mut module, text.as_ptr().cast()))?;
        }
        (self.stream, self.module, self.context) = (stream, module, context);
        let text =
            |bytes: &[u8]| CStr::from_bytes_until_nul(bytes).map(|text| text.to_string_lossy().into_owned());
        let (name, bus) = (text(&name)?, text(&bus)?);
        let of_kernel = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        let driver = of_kernel.split_whitespace().find(is_number).filter(|_| self.counter.is_none());
        let driver = driver.map_or_else(String::new, |number| format!(", driver {number}"));
        let cuda = format!("{}.{}{driver}", version / 1000, version % 1000 / 10);
        Ok(DeviceFacts { name, bus, cuda, has_mps })
    }

    /// The kernel with a name; it exists as long as the process.
    pub(super) fn kernel(&self, name: &str) -> usize {
        let (mut kernel, c_name) = (0, CString::new(name).expect("a name without NUL"));
        // SAFETY: both pointers live through the call.
        let code = unsafe { (self.kernel)(&raw mut kernel, self.module, c_name.as_ptr()) };
        self.check("cuModuleGetFunction", code);
        kernel
    }

    /// Copies bytes between memories of any kind, and waits for it.
    ///
    /// # Safety
    /// Both ranges exist and are not used otherwise.
    pub(super) unsafe fn copy_now(&self, to: u64, from: u64, bytes: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.copy_later(to, from, bytes) };
        // SAFETY: the stream is live.
        self.check("cuStreamSynchronize", unsafe { (self.synchronize_stream)(self.stream) });
    }

    /// Begins to copy bytes between memories of any kind.
    ///
    /// # Safety
    /// Both ranges exist and are not used otherwise until [`synchronize`].
    #[inline]
    pub(super) unsafe fn copy_later(&self, to: u64, from: u64, bytes: usize) {
        if bytes > 0 {
            // SAFETY: guaranteed by the caller.
            self.check("cuMemcpyAsync", unsafe { (self.copy)(to, from, bytes, self.stream) });
        }
    }

    /// Ends the process if a call has failed: after that, no call on this context is defined.
    #[inline]
    pub(super) fn check(&self, call: &'static str, code: c_int) {
        if code != 0 {
            self.fail(call, code);
        }
    }

    #[cold]
    fn fail(&self, call: &'static str, code: c_int) -> ! {
        panic!("{}", self.result(call, code).unwrap_err());
    }

    fn result(&self, call: &'static str, code: c_int) -> anyhow::Result<()> {
        if code == 0 {
            return Ok(());
        }
        let mut name = null_mut::<c_char>().cast_const();
        // SAFETY: the name of an error is static.
        let known = unsafe { (self.error_name)(code, &raw mut name) } == 0 && !name.is_null();
        let name = match known {
            // SAFETY: a NUL-terminated string.
            true => unsafe { CStr::from_ptr(name) }.to_string_lossy(),
            false => "unknown error".into(),
        };
        Err(anyhow!("{call} failed: {name} ({code})"))
    }
}
