//! The pack engine's program for a message, as text.

use apps::{Arrays, Exchange, MicroApp, Side, Test, Values, WireOrder};
use kernels::{CompileError, compile};

use super::layout;

/// The program that the method `engine` compiles with `ranks` ranks for this machine: for the whole message,
/// or for an all-to-all one copy of a block per rank.
///
/// # Errors
/// If the message does not fit into the address space.
pub fn explain(
    test: &Test,
    values: &Values,
    app: &MicroApp,
    side: Side,
    order: WireOrder,
    ranks: u32,
) -> Result<String, CompileError> {
    let specs = &app.arrays;
    let (array, origin, layout, count) = match (&app.exchange, side) {
        (Exchange::AllToAll { send_block, .. }, Side::Send) => (0, 0, send_block.clone(), ranks),
        (Exchange::AllToAll { receive_block, .. }, Side::Receive) => (1, 0, receive_block.clone(), ranks),
        (Exchange::Pairs, side) => {
            let (origin, layout) = app.message(side, order).datatype(&Arrays::displacements_of(specs));
            (0, origin, layout, 1)
        }
    };
    let program = compile(&layout, count.into())?;
    let heading = layout::heading(test, values, side, order);
    let copies = if count == 1 { "one copy".to_owned() } else { format!("{count} copies") };
    let array = &specs[array].name;
    Ok(format!(
        "{heading}{copies} of its datatype, displacement 0 being byte {origin} of {array}\n\n{program}"
    ))
}

#[cfg(test)]
mod tests {
    use apps::{Context, find};

    use super::*;

    fn explained(name: &str, side: Side) -> (String, String) {
        let test = find(name).unwrap();
        let values = test.set(test.quick_set().name).unwrap();
        let app = test.build(&values, Context { ranks: 4, seed: 1 }).unwrap();
        let text = explain(test, &values, &app, side, WireOrder::Ddt, 4).unwrap();
        let (head, program) = text.split_once("\n\n").unwrap();
        (head.to_owned(), program.to_owned())
    }

    #[test]
    fn the_engine_shows_what_it_compiles_and_chose() {
        let (head, program) = explained("nas_lu_y", Side::Send);
        assert!(head.ends_with("\none copy of its datatype, displacement 0 being byte 32720 of u"), "{head}");
        assert!(program.starts_with("16320 bytes in 408 blocks\n"), "{program}");
        assert!(program.contains("\n  16320 bytes: 408 times, "), "{program}");
        let kernel = "\nkernel strided, 40 bytes: 16320 bytes (100%) in 408 blocks; ";
        assert!(program.contains(kernel), "{program}");
    }

    #[test]
    fn an_all_to_all_is_a_copy_of_a_block_per_rank() {
        for side in [Side::Send, Side::Receive] {
            let (head, _) = explained("fft2d", side);
            assert!(head.contains("\n4 copies of its datatype, displacement 0 being byte 0 of "), "{head}");
        }
    }
}
