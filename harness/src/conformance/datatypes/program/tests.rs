use common::conformance::OPERATIONS;

use super::*;

fn hit(layout: &str, operation: &str, detail: &str) -> Hit {
    let hit = Hit::fake(operation, FaultKind::WrongData, layout);
    Hit { items: 2, detail: detail.to_owned(), ..hit }
}

#[test]
fn every_operation_has_a_program() {
    for operation in OPERATIONS.iter() {
        use ProgramMemory::{Device, Guarded, Static};
        for memory in [Static, Guarded, Device] {
            let hit = hit("vector(2, 1, 3, int32)", operation.name, "");
            let text = program(&hit, "an MPI", 2, memory);
            assert!(text.contains("MPI_Type_vector"), "{}", operation.name);
            let body = text.split("int main").nth(1).unwrap();
            assert!(body.contains("MPI_") && text.contains("type"), "{}: {body}", operation.name);
            let compared = body.lines().filter(|line| line.contains(" compare("));
            let is_of_device = |line: &str| has_word(line, "memory") && memory == Device;
            let mut possible = compared.filter(|_| operation.is_possible_in(MemoryKind::Device));
            assert!(!possible.any(is_of_device), "{body}");
            assert!(text.lines().all(|line| line.len() <= 150), "{text}");
        }
    }
}

#[test]
fn most_programs_have_at_most_50_lines_or_60_with_guard_pages() {
    for (memory, usual) in [(ProgramMemory::Static, 50), (ProgramMemory::Guarded, 60)] {
        for items in [1, 10_000] {
            let lines = |operation: &Operation| {
                let packed = operation.statements.contains("compare(\"packed data\"");
                let place = if packed { "byte 0 of the packed data" } else { "the byte at displacement 0" };
                let hit = Hit { items, ..hit("vector(2, 1, 2, int16)", operation.name, place) };
                program(&hit, "an MPI", 2, memory).lines().count()
            };
            let lines: Vec<usize> = OPERATIONS.iter().map(lines).collect();
            let short = lines.iter().filter(|lines| **lines <= usual).count();
            // Those of files and of some one-sided forms have more.
            assert!(100 * short >= 85 * lines.len(), "{memory:?}, {items}: {short} of {}", lines.len());
            assert!(lines.iter().all(|lines| *lines <= usual + 13), "{memory:?}, {items}: {lines:?}");
        }
    }
}

#[test]
fn the_bytes_of_the_type_map_are_a_literal_list() {
    let hit = hit("resized(0, 16, hindexed([1, 1], [4, -4], int32))", "send_to_self", "wrong");
    let [open, guarded] =
        [ProgramMemory::Static, ProgramMemory::Guarded].map(|memory| program(&hit, "MPI 9", 2, memory));
    let place = "original[byte_at[i % 8 / 4] + i % 4 + i / 8 * 16];";
    assert!(open.contains("byte_at[] = {72, 64};") && open.contains(place), "{open}");
    assert!(open.contains("memory[156], packed[16], *data = memory + 68,"), "{open}");
    assert!(guarded.contains("memory = guarded(92), packed = guarded(16), data = memory + 68;"), "{guarded}");
    // The program has the functions that it uses, also those that are passed to others, and no more.
    assert!(guarded.contains("*guarded(long") && !guarded.contains("reverse"), "{guarded}");
    assert!(open.contains(" * MPI 9: wrong\n") && open.contains("(MPI-4.1, section 5.1.11)"), "{open}");
    assert!(!open.contains("guarded") && !open.contains("mmap"), "{open}");
    // A list for many bytes has runs.
    let layout = "hindexed([1000, 3], [2000, 0], byte)".parse().unwrap();
    let long = program(&Hit { layout, items: 1, ..hit }, "MPI 9", 2, ProgramMemory::Static);
    assert!(long.contains("runs[] = {{2064, 1000}, {64, 3}};") && long.contains("original[at(i)]"), "{long}");
}

#[test]
fn only_wrong_bounds_are_compared() {
    let detail = "MPI_Type_get_true_extent gives lower bound 0, extent 2 instead of 0, 1";
    let text =
        program(&hit("struct([1], [0], [byte])", "bounds", detail), "an MPI", 1, ProgramMemory::Static);
    assert!(text.contains("if (true_extent != 1)") && !text.contains("MPI_Type_get_extent"), "{text}");
}

#[test]
fn external_data_is_compared_with_bytes_that_mpi_has_not_made() {
    for (operation, calls) in
        [("pack_external", "MPI_Pack_external("), ("unpack_external", "MPI_Unpack_external(")]
    {
        let layout = "struct([2, 1, 1], [0, 8, 16], [int16, float_complex, byte])";
        let text = program(&hit(layout, operation, ""), "an MPI", 1, ProgramMemory::Static);
        assert!(text.contains("widths[] = {{2, 2}, {2, 4}, {1, 1}};"), "{text}");
        let external = text.lines().filter(|line| line.contains("_external(")).collect::<Vec<_>>();
        assert!(matches!(external[..], [line] if line.contains(calls)), "{external:?}");
    }
}

#[test]
fn a_short_message_has_as_many_values_as_in_the_hit_or_all_but_one() {
    let text = |detail| {
        let hit = hit("vector(2, 1, 3, int32)", "short_message", detail);
        program(&hit, "an MPI", 1, ProgramMemory::Static)
    };
    let counted = text("MPI_Get_elements gives 2 instead of 3 after 3 of 4 values");
    assert!(counted.contains("MPI_Sendrecv(packed, 3, MPI_INT32_T, 0"), "{counted}");
    assert!(counted.contains("items != MPI_UNDEFINED"), "{counted}");
    let bytes = text("the byte at displacement 8 is 0x02 instead of 0xa5");
    let is_short = bytes.contains("byte_at[] = {64, 76, 80};") && bytes.contains("MPI_Sendrecv(packed, 3,");
    assert!(is_short && bytes.contains("of the receiver's memory: "), "{bytes}");
}

#[test]
fn a_program_shows_a_fault_by_its_output_or_its_end() {
    let (wrong, right) = (["[0] WRONG: byte 3".to_owned()], ["right".to_owned()]);
    for (kind, lines, ending, expected) in [
        (FaultKind::WrongData, &wrong[..], "exit code 1", Some("byte 3")),
        (FaultKind::WrongData, &[], "SIGSEGV", Some("SIGSEGV")),
        (FaultKind::WrongData, &right, "SIGSEGV", None),
        (FaultKind::Crash, &right, "exit code 0", None),
        (FaultKind::Crash, &[], "SIGSEGV", Some("SIGSEGV")),
        (FaultKind::Crash, &right, "SIGSEGV", Some("SIGSEGV, perhaps in MPI_Finalize")),
    ] {
        let evidence = shows(kind, lines, ending == "exit code 0", ending);
        match expected {
            Some(shown) => assert_eq!(evidence, Evidence::Shown(shown.to_owned())),
            None => assert!(matches!(evidence, Evidence::NotShown(_)), "{evidence:?}"),
        }
    }
}
