//! The engine's comparison of one case: every way to pack and unpack the same message, in one process, without
//! communication. First all methods are shown to move the right bytes, then they are timed in rounds.
//!
//! Nothing is received in place here: a test whose application receives straight into its array is unpacked all the
//! same, by hand with a plain copy. An all-to-all has the layout that it has on two ranks.

mod active_method;
mod bench;
mod rounds;
mod table;
mod verify;

use std::process::ExitCode;

use anyhow::ensure;
use apps::{Arrays, MicroApp, Side};
use common::kinds::Kind;
use common::kinds::engine::{self, PackingOrder};
use common::kinds::pingpong::{self, methods::can_by_name};
use common::model::conditions::Cache;
use common::model::event::{Event, LineBytes, MessageFacts};
use common::model::{Case, MethodInfo};

use crate::checked::{World, identity};
use crate::cli::Engine;
use crate::environment;
use crate::guard::MemoryGuard;
use crate::measure::cache::{self, Eviction};
use crate::measure::clock::Clock;
use crate::measure::state::CopyProbe;
use crate::memory::Memory;
use crate::method::Setup;
use crate::output::Output;
use crate::reporter::EventReporter;
use crate::spans::line_bytes;
use bench::Bench;

/// Compares the methods that were asked for on one message.
///
/// # Errors
/// Why it cannot be done.
pub fn run(world: &World, args: &Engine) -> anyhow::Result<ExitCode> {
    let processes = world.ranks(None)?;
    ensure!(processes == 1, "{processes} ranks in the world: the comparison is one of one process");
    cache::check(args.case.conditions.cache)?;
    let (test, values, app) = args.case.build(engine::RANKS)?;
    let (methods, limits) = args.methods.of_test(Kind::Engine, test.name, |name| can_by_name(&*app, name))?;
    let methods = chosen(&*app, args.order, &methods)?;
    if let Some(available) = common::memory::available_bytes() {
        common::memory::check_engine(&*app, available).map_err(anyhow::Error::msg)?;
    }

    let order = args.order.wire_order();
    let setup = Setup { ranks: engine::RANKS, ..Setup::new(&*app, &world.comm)? };
    let mut memory = Memory::new(Arrays::new(app.arrays()), setup.message_bytes);
    let lines = [Side::Send, Side::Receive].map(|side| line_bytes(&app.message(side, order), &memory.arrays));
    let lines = LineBytes { pack: lines[0], unpack: lines[1] };
    let clock = Clock::measure();
    let facts = MessageFacts { line_bytes: Some(lines), ..pingpong::facts(&*app, order) };
    let hello = environment::hello(world, &environment::place(0), facts, clock, Vec::new())?;
    let mut bench = Bench {
        setup: &setup,
        order,
        clock,
        copies: CopyProbe::new(),
        eviction: (args.case.conditions.cache == Cache::Cold).then(|| Eviction::new(&*app)),
        generation: 0,
        reporter: EventReporter::new(Output::new(args.case.conditions.format), 0, None),
    };
    bench.reporter.report(&Event::Hello(Box::new(hello)));
    let active_methods = bench.activate(&methods, &memory, lines)?;
    // What the methods have is theirs; what grows from here on is the MPI's.
    bench.reporter.guard = MemoryGuard::watch(processes);
    if let Err(error) = rounds::run(&mut bench, &mut memory, active_methods, limits) {
        bench.reporter.abort(error.outcome(error.to_string()));
    }
    bench.reporter.done();
    drop(bench.reporter.guard.take());
    let case = args.case.case(Kind::Engine, test, &values, identity::compiled_for(), 1);
    let order = app.orders_differ().then(|| format!(" {}={}", engine::ORDER, args.order.name()));
    let case = Case { params: case.params.clone() + &order.unwrap_or_default(), ..case };
    bench.reporter.output.table(Kind::Engine, &case, limits.rule);
    Ok(bench.reporter.exit_code())
}

/// Those of the methods that can pack in this order of bytes.
fn chosen(
    app: &dyn MicroApp,
    order: PackingOrder,
    names: &[String],
) -> anyhow::Result<Vec<&'static MethodInfo>> {
    let possible = engine::methods::in_order(order, app.orders_differ());
    let methods: Vec<_> = possible.filter(|method| names.iter().any(|name| name == method.name)).collect();
    ensure!(
        !methods.is_empty(),
        "the loops pack in the order `{}`, and in no other",
        PackingOrder::Manual.name()
    );
    Ok(methods)
}
