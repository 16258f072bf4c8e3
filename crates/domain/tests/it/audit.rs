//! The audit chain, and the detection of every manipulation of an export.

use holdpoint_domain as domain;

use crate::common::people::{at, caller, session, uuid};
use domain::audit::chain::{BEGINNING, ChainHead, Checkpoint, PublicKey, Signer, link};
use domain::audit::export::{EntryForm, Header, Writer};
use domain::audit::seal::ALL;
use domain::audit::verify::{Demands, ExportFinding, Fault, Report, verify};
use domain::audit::{Entry, How, Written};
use domain::{Digest, EntryId, EntryPoint, TenantId};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// A line of an export, and the number of the entry in it.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    seq: Option<u64>,
    text: String,
}

fn tenant() -> TenantId {
    TenantId::from_uuid(uuid(2))
}

fn signer() -> Signer {
    Signer::from_secret(&[9; 32])
}

fn entry(number: u128, data: Value) -> Written {
    let alice = caller("alice", domain::Role::Operator, &[]);
    let entry = Entry {
        id: EntryId::from_uuid(uuid(number)),
        scope: alice.scope,
        at: at(1),
        name: "interaction.answered".into(),
        how: How { from: Some([10, 0, 0, 7].into()), ..How::of(&alice) },
        by: alice.actor,
        session: Some(session().id),
        event: Some(7),
        interaction: None,
        data,
    };
    entry.written()
}

/// An export of `entries` entries, with a checkpoint after every fourth and after the last. Every fifth entry belongs to another project.
fn export(entries: u64, by: &Signer) -> Vec<Line> {
    export_of(0, entries, by, |seq| seq % 5 == 0)
}

/// An export of the entries from `after` + 1 to `last`. `hidden` selects the entries that are shown only by their digest.
fn export_of(after: u64, last: u64, by: &Signer, hidden: impl Fn(u64) -> bool) -> Vec<Line> {
    let mut head = ChainHead::default();
    let (mut lines, mut writer) = (Vec::new(), None);
    for seq in 0..=last {
        let Written { text, digest, .. } = entry(u128::from(seq), json!({ "number": seq, "ratio": 0.1 + 0.2 }));
        if seq > 0 {
            head = ChainHead { seq, hash: link(tenant(), seq, head.hash, digest), ..head };
        }
        if seq == after {
            let end = ChainHead { seq: last, ..head };
            let header = Header::new(tenant(), &by.public_key(), (after, head.hash), &end);
            let (begun, line) = Writer::begin(&header, None);
            lines.push(Line { seq: None, text: line });
            writer = Some(begun);
        } else if let Some(writer) = &mut writer {
            let shown = if hidden(seq) { EntryForm::DigestAlone } else { EntryForm::Text(&text) };
            lines.push(Line { seq: Some(seq), text: writer.entry(seq, digest, head.hash, shown) });
        }
        if seq > 0 && (seq % 4 == 0 || seq == last) {
            let checkpoint = by.checkpoint(tenant(), &head, at(9));
            if let Some(writer) = writer.as_mut().filter(|_| seq > after || seq == last) {
                lines.push(Line { seq: None, text: writer.checkpoint(&checkpoint) });
            }
            head.signed_seq = seq;
        }
    }
    lines.push(Line { seq: None, text: writer.unwrap().end(by, at(10)) });
    lines
}

/// Line of a forged entry.
fn entry_line(seq: u64, digest: Digest, hash: Digest, text: Option<&str>) -> String {
    let header = Header::new(tenant(), &signer().public_key(), (0, BEGINNING), &ChainHead::default());
    Writer::begin(&header, None).0.entry(seq, digest, hash, text.map_or(EntryForm::DigestAlone, EntryForm::Text))
}

/// Removes the text of an entry and leaves its digest, as for an entry of another project.
fn blank(line: &mut Line) {
    let (kept, _) = line.text.split_once(",\"entry\":").unwrap();
    line.text = format!("{kept}}}\n");
}

/// Changes a field of a line.
fn edit(line: &mut Line, pointer: &str, value: impl Into<Value>) {
    let mut read: Value = serde_json::from_str(&line.text).unwrap();
    *read.pointer_mut(pointer).unwrap() = value.into();
    line.text = format!("{read}\n");
}

fn checked(lines: &[Line], demands: &Demands) -> Result<Report, ExportFinding> {
    let text: String = lines.iter().map(|line| line.text.as_str()).collect();
    checked_bytes(text.as_bytes(), demands)
}

fn checked_bytes(bytes: &[u8], demands: &Demands) -> Result<Report, ExportFinding> {
    verify(bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec), demands)
}

/// Manipulates an export and checks the finding: its line, its entry and its fault.
fn check(tamper: impl FnOnce(&mut Vec<Line>), line: u64, seq: Option<u64>, fault: Fault) {
    let mut lines = export(10, &signer());
    tamper(&mut lines);
    assert_eq!(checked(&lines, &Demands::default()), Err(ExportFinding { line, seq, fault }));
}

/// The lines are: 1 header, 2 to 5 entries 1 to 4, 6 checkpoint, 7 to 10 entries 5 to 8, 11 checkpoint, 12 and 13 entries, 14 checkpoint,
/// 15 seal.
#[test]
fn complete_export_is_verified() {
    let report = checked(&export(10, &signer()), &Demands::default()).unwrap();
    assert_eq!(
        (report.first, report.entries, report.digests_only, report.checkpoints, report.last.0),
        (1, 10, 2, 3, 10)
    );
    assert_eq!((report.shown.as_str(), report.at), (ALL, at(10).to_string()));
    assert_eq!(report.public_key, signer().public_key().to_string());
    assert_eq!(
        checked(&export(0, &signer()), &Demands::default()),
        Err(ExportFinding { line: 2, seq: None, fault: Fault::Removed })
    );
}

#[test]
fn each_manipulation_is_reported_with_its_line() {
    let swap = |text: &mut String, from: &str, to: &str| *text = text.replace(from, to);
    check(|lines| swap(&mut lines[2].text, "alice", "mallory"), 3, Some(2), Fault::Changed);
    check(|lines| swap(&mut lines[2].text, "\"seq\":2", "\"seq\":3"), 3, Some(2), Fault::Changed);
    check(|lines| drop(lines.remove(3)), 4, Some(3), Fault::Removed);
    check(|lines| drop(lines.drain(3..=4)), 4, Some(3), Fault::Removed);
    check(|lines| drop(lines.remove(5)), 10, None, Fault::Removed);
    check(|lines| lines.insert(4, lines[3].clone()), 5, Some(3), Fault::Added);
    check(|lines| lines.swap(2, 3), 3, Some(3), Fault::Reordered);
    check(|lines| lines.swap(2, 9), 3, Some(8), Fault::Reordered);
    check(|lines| lines.swap(4, 5), 5, None, Fault::Reordered);
    check(|lines| lines.truncate(12), 13, Some(10), Fault::Removed);
    check(|lines| lines.truncate(11), 12, Some(9), Fault::Removed);
    check(|lines| lines.truncate(13), 14, None, Fault::Removed);
    check(|lines| lines.truncate(14), 15, None, Fault::Unsealed);
    check(|lines| lines.swap(13, 14), 14, None, Fault::SealReordered);
    check(|lines| lines.push(lines[14].clone()), 16, None, Fault::AfterSeal);
    check(|lines| lines.push(lines[12].clone()), 16, None, Fault::AfterSeal);
    check(|lines| lines[14].text = "rubbish\n".into(), 15, None, Fault::SealChanged);
    check(|lines| swap(&mut lines[4].text, "\"entry\"", "\"changed\":true,\"entry\""), 5, Some(4), Fault::Changed);
    check(|lines| swap(&mut lines[0].text, ",", ", "), 15, None, Fault::NotAsSealed);
    check(|lines| swap(&mut lines[5].text, "\"previous\":0", "\"previous\":1"), 6, None, Fault::Signature);
    check(|lines| lines[0].text = "{\"format\":\"other\"}\n".into(), 1, None, Fault::NotAnExport);
    check(|lines| lines.clear(), 1, None, Fault::NotAnExport);
    check(|lines| lines[3].text = "rubbish\n".into(), 4, Some(3), Fault::Changed);
    check(|lines| lines[5].text = "rubbish\n".into(), 6, None, Fault::Changed);
}

/// A forged entry with a valid link is found, because the rest of the chain is linked to the original entry.
#[test]
fn forged_entry_is_reported() {
    let made_up = |lines: &mut Vec<Line>| {
        let before: Value = serde_json::from_str(&lines[3].text).unwrap();
        let Written { text, digest, .. } = entry(99, json!({}));
        let hash = link(tenant(), 4, before["hash"].as_str().unwrap(), digest);
        lines.insert(4, Line { seq: Some(4), text: entry_line(4, digest, hash, Some(&text)) });
    };
    check(made_up, 5, Some(4), Fault::Added);
    let badly_linked = |lines: &mut Vec<Line>| {
        let Written { text, digest, .. } = entry(99, json!({}));
        lines.insert(4, Line { seq: Some(4), text: entry_line(4, digest, digest, Some(&text)) });
    };
    check(badly_linked, 5, Some(4), Fault::Added);
}

/// An attacker who changes an entry and recomputes all hashes cannot forge the signatures.
#[test]
fn recomputed_hashes_do_not_match_the_signatures() {
    let anew = |lines: &mut Vec<Line>| {
        let mut hash = BEGINNING;
        for line in lines.iter_mut() {
            let Some(seq) = line.seq else { continue };
            let mut shown: Value = serde_json::from_str(&line.text).unwrap();
            let text = shown["entry"].take().to_string().replace("alice", "mallory");
            let digest = Digest::of_bytes(text.as_bytes());
            hash = link(tenant(), seq, hash, digest);
            line.text = entry_line(seq, digest, hash, Some(&text));
        }
    };
    check(anew, 6, Some(1), Fault::Rewritten { upto: 4 });
}

/// An attacker may cut a file at a checkpoint and adjust the header. The seal proves the original length.
#[test]
fn removed_beginning_or_end_is_reported() {
    let tail = |lines: &mut Vec<Line>| {
        lines.drain(6..14);
        edit(&mut lines[0], "/last", 4);
    };
    check(tail, 7, Some(5), Fault::Removed);
    let tail_and_seal = |lines: &mut Vec<Line>| {
        lines.truncate(6);
        edit(&mut lines[0], "/last", 4);
    };
    check(tail_and_seal, 7, None, Fault::Unsealed);
    let beginning = |lines: &mut Vec<Line>| {
        let read: Value = serde_json::from_str(&lines[4].text).unwrap();
        lines.drain(1..6);
        edit(&mut lines[0], "/after", 4);
        edit(&mut lines[0], "/hash", read["hash"].clone());
    };
    check(beginning, 2, Some(1), Fault::Removed);
    let all_but_the_end = |lines: &mut Vec<Line>| {
        let read: Value = serde_json::from_str(&lines[12].text).unwrap();
        lines.drain(1..13);
        edit(&mut lines[0], "/after", 10);
        edit(&mut lines[0], "/hash", read["hash"].clone());
    };
    check(all_but_the_end, 2, Some(1), Fault::Removed);
    // The seal of a shorter export does not fit either.
    let older = export(4, &signer()).pop().unwrap();
    check(move |lines| lines[14] = older, 15, Some(5), Fault::Added);
}

/// In an export that shows every entry, the entry whose text was removed is named. In another export, the seal proves the number of shown
/// entries.
#[test]
fn removed_entry_text_is_reported() {
    let mut all = export_of(0, 10, &signer(), |_| false);
    assert_eq!(checked(&all, &Demands::default()).unwrap().digests_only, 0);
    blank(&mut all[7]);
    blank(&mut all[9]);
    let found = checked(&all, &Demands::default()).unwrap_err();
    assert_eq!(found, ExportFinding { line: 8, seq: Some(6), fault: Fault::Blanked });
    check(|lines| blank(&mut lines[1]), 15, None, Fault::Blanked);
    // A text that is removed is also noticed if the text of another hidden entry is added in exchange.
    let exchanged = |lines: &mut Vec<Line>| {
        let shown = export_of(0, 10, &signer(), |_| false);
        lines[6] = shown[6].clone();
        blank(&mut lines[7]);
    };
    check(exchanged, 15, None, Fault::NotAsSealed);
}

/// An export that does not begin at the first entry is refused, unless the reader knows its checkpoint or accepts a part.
#[test]
fn partial_export_is_refused_unless_it_is_expected() {
    let part = export_of(6, 10, &signer(), |_| false);
    let found = checked(&part, &Demands::default()).unwrap_err();
    assert_eq!(found, ExportFinding { line: 1, seq: None, fault: Fault::Partial { upto: 6 } });
    let partial = Demands { partial: true, ..Demands::default() };
    let report = checked(&part, &partial).unwrap();
    assert_eq!((report.first, report.entries, report.last.0), (7, 4, 10));
    let header: Value = serde_json::from_str(&part[0].text).unwrap();
    let known = |seq, hash: &str| Demands { checkpoint: Some((seq, hash.into())), ..Demands::default() };
    let hash = header["hash"].as_str().unwrap();
    assert!(checked(&part, &known(6, hash)).is_ok());
    assert_eq!(checked(&part, &known(5, hash)).unwrap_err().fault, Fault::OutOfReach);
    assert_eq!(checked(&part, &known(6, &"0".repeat(64))).unwrap_err().fault, Fault::Rewritten { upto: 6 });
    let nothing_new = export_of(10, 10, &signer(), |_| false);
    assert_eq!(checked(&nothing_new, &partial).unwrap().entries, 0);
    assert_eq!(checked(&nothing_new, &Demands::default()).unwrap_err().fault, Fault::Partial { upto: 10 });
}

/// A forged chain with a key of its own is consistent. Only the demanded key reveals it.
#[test]
fn foreign_key_is_refused_if_a_key_is_demanded() {
    let ours = signer().public_key().to_string();
    let forged = export(10, &Signer::from_secret(&[8; 32]));
    assert!(checked(&forged, &Demands::default()).is_ok());
    let demands = Demands { public_key: Some(ours), ..Demands::default() };
    assert!(checked(&export(10, &signer()), &demands).is_ok());
    assert_eq!(checked(&forged, &demands).unwrap_err().fault, Fault::ForeignKey);
}

/// A checkpoint that was kept elsewhere reveals a rewritten chain and a cut one.
#[test]
fn known_checkpoint_reveals_a_rewritten_or_cut_chain() {
    let lines = export(10, &signer());
    let kept: Value = serde_json::from_str(&lines[10].text).unwrap();
    let hash = kept["checkpoint"]["hash"].as_str().unwrap().to_owned();
    let demand = |seq, hash: &str| Demands { checkpoint: Some((seq, hash.into())), ..Demands::default() };
    assert!(checked(&lines, &demand(8, &hash)).is_ok());
    let wrong = checked(&lines, &demand(7, &hash)).unwrap_err();
    assert_eq!((wrong.seq, wrong.fault), (Some(1), Fault::Rewritten { upto: 7 }));
    let cut = checked(&export(7, &signer()), &demand(8, &hash)).unwrap_err();
    assert_eq!((cut.seq, cut.fault), (Some(8), Fault::Removed));
}

#[test]
fn entries_without_text_can_be_refused() {
    let demands = Demands { whole: true, ..Demands::default() };
    let found = checked(&export(10, &signer()), &demands).unwrap_err();
    assert_eq!((found.seq, found.fault), (Some(5), Fault::Hidden));
}

#[test]
fn public_key_is_parsed_only_in_lower_case() {
    let key = signer().public_key();
    assert_eq!(PublicKey::read(&key.to_string()), Some(key));
    assert_eq!(PublicKey::read(&key.to_string().to_uppercase()), None);
    assert_eq!(PublicKey::read("12"), None);
}

#[test]
fn signature_of_a_checkpoint_is_bound_to_its_tenant() {
    let checkpoint: Checkpoint = signer().checkpoint(tenant(), &ChainHead::default(), at(1));
    let key = signer().public_key();
    assert!(checkpoint.is_signed_by(&key, &tenant().to_string()));
    assert!(!checkpoint.is_signed_by(&key, &TenantId::from_uuid(uuid(3)).to_string()));
}

/// Parts that are too large are stored as digests. Small parts next to them stay unchanged.
#[test]
fn large_parts_are_stored_as_digests() {
    let long = "x".repeat(100_000);
    let written = entry(
        1,
        json!({ "effect": "edit", "answer": { "by": "alice", "data": { "file": long }, "feedback": "fine" } }),
    );
    assert!(written.text.len() < 8_000, "{} bytes", written.text.len());
    let data = &written.entry.data;
    assert_eq!((&data["effect"], &data["answer"]["feedback"]), (&json!("edit"), &json!("fine")));
    assert_eq!(data["answer"]["data"]["file"]["bytes"], json!(100_002));
    assert_eq!(written.digest, Digest::of_bytes(written.text.as_bytes()));
    let many =
        entry(1, json!({ "answer": { "data": { "list": (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>() } } }));
    assert!(many.text.len() < 8_000, "{} bytes", many.text.len());
}

#[test]
fn entry_survives_a_json_round_trip() {
    let written = entry(1, json!({ "n": 1 }));
    assert_eq!(serde_json::from_str::<Entry>(&written.text).unwrap(), written.entry);
    assert_eq!(How::by(EntryPoint::Timer), serde_json::from_value(json!({ "wire": "timer" })).unwrap());
}

/// Line, and the entry in it, to which a byte of an export belongs.
fn owner(lines: &[Line], position: usize) -> (u64, Option<u64>) {
    let mut end = 0;
    for (number, line) in lines.iter().enumerate() {
        end += line.text.len();
        if position < end {
            return (number as u64 + 1, line.seq);
        }
    }
    unreachable!("{position} is behind the end")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1500), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_flipped_bit_goes_unnoticed(place: Index, bit in 0_u8..8, entries in 1_u64..14) {
        let lines = export(entries, &signer());
        let mut bytes: Vec<u8> = lines.iter().flat_map(|line| line.text.bytes()).collect();
        let position = place.index(bytes.len());
        bytes[position] ^= 1 << bit;
        let found = checked_bytes(&bytes, &Demands::default());
        prop_assert!(found.is_err(), "byte {} of {}", position, entries);
        let (line, seq) = owner(&lines, position);
        if let (Err(found), Some(seq)) = (found, seq) {
            prop_assert_eq!((found.line, found.seq, found.fault), (line, Some(seq), Fault::Changed));
        }
    }

    /// Removes lines from both ends, with an adjusted header, and with or without the seal.
    #[test]
    fn no_cut_goes_unnoticed(front in 0_usize..20, back in 0_usize..20, seal: bool, entries in 1_u64..14) {
        let mut lines = export(entries, &signer());
        let sealing = lines.pop().unwrap();
        let (header, inner) = (lines[0].clone(), lines.split_off(1));
        prop_assume!(front + back > 0 || !seal);
        let left = inner.len().saturating_sub(back);
        let (gone, left) = (&inner[..front.min(left)], &inner[front.min(left)..left]);
        let mut cut = vec![header];
        if let Some(last) = gone.iter().rev().find(|line| line.seq.is_some()) {
            let read: Value = serde_json::from_str(&last.text).unwrap();
            edit(&mut cut[0], "/after", read["seq"].clone());
            edit(&mut cut[0], "/hash", read["hash"].clone());
        }
        cut.extend(left.iter().cloned());
        if let Some(seq) = cut.iter().rev().find_map(|line| line.seq) {
            edit(&mut cut[0], "/last", seq);
        }
        cut.extend(seal.then_some(sealing));
        let partial = Demands { partial: true, ..Demands::default() };
        prop_assert!(checked(&cut, &partial).is_err());
    }

    #[test]
    fn no_field_of_header_or_seal_can_be_changed(place: Index, other: u64, seal: bool, entries in 1_u64..14) {
        let mut lines = export(entries, &signer());
        let line = if seal { lines.len() - 1 } else { 0 };
        let read: Value = serde_json::from_str(&lines[line].text).unwrap();
        let fields = if seal { &read["seal"] } else { &read }.as_object().unwrap();
        let (name, was) = fields.iter().nth(place.index(fields.len())).unwrap();
        let value = if was.is_u64() { json!(other) } else { json!(format!("{:064x}", other)) };
        prop_assume!(value != *was);
        // The value is replaced in the text, so that the rest of the line stays equal.
        let changed = lines[line].text.replacen(&format!("\"{name}\":{was}"), &format!("\"{name}\":{value}"), 1);
        prop_assert_ne!(&changed, &lines[line].text);
        lines[line].text = changed;
        prop_assert!(checked(&lines, &Demands { partial: true, ..Demands::default() }).is_err(), "{}", name);
    }

    #[test]
    fn no_blanked_entry_goes_unnoticed(places in proptest::collection::vec(any::<Index>(), 1..4), all: bool, entries in 1_u64..14) {
        let mut lines = export_of(0, entries, &signer(), |seq| !all && seq % 5 == 0);
        let shown: Vec<usize> = (0..lines.len()).filter(|line| lines[*line].text.contains(",\"entry\":")).collect();
        let mut blanked: Vec<usize> = places.iter().map(|place| *place.get(&shown)).collect();
        blanked.sort_unstable();
        blanked.dedup();
        blanked.iter().for_each(|line| blank(&mut lines[*line]));
        let found = checked(&lines, &Demands::default()).unwrap_err();
        prop_assert_eq!(found.fault, Fault::Blanked);
        if all {
            prop_assert_eq!((found.line, found.seq), (blanked[0] as u64 + 1, lines[blanked[0]].seq));
        }
    }

    #[test]
    fn no_removed_line_goes_unnoticed(place: Index, entries in 1_u64..14) {
        let mut lines = export(entries, &signer());
        let gone = lines.remove(place.index(lines.len()));
        let found = checked(&lines, &Demands::default());
        prop_assert!(found.is_err());
        if gone.seq.is_some() {
            let found = found.unwrap_err();
            prop_assert_eq!((found.seq, found.fault), (gone.seq, Fault::Removed));
        }
    }

    #[test]
    fn no_repeated_line_goes_unnoticed(place: Index, target: Index, entries in 2_u64..14) {
        let mut lines = export(entries, &signer());
        let (from, to) = (1 + place.index(lines.len() - 1), 1 + target.index(lines.len() - 1));
        let again = lines[from].clone();
        lines.insert(to, again);
        let found = checked(&lines, &Demands::default());
        prop_assert!(found.is_err());
        prop_assert!(found.unwrap_err().line <= to as u64 + 2);
    }

    #[test]
    fn no_swapped_lines_go_unnoticed(one: Index, other: Index, entries in 2_u64..14) {
        let mut lines = export(entries, &signer());
        let (one, other) = (1 + one.index(lines.len() - 1), 1 + other.index(lines.len() - 1));
        prop_assume!(one != other);
        lines.swap(one, other);
        let (first, second) = (one.min(other), one.max(other));
        let found = checked(&lines, &Demands::default());
        prop_assert!(found.is_err());
        // If a checkpoint and an entry are swapped, only the checkpoint may be in a wrong position.
        if lines[first].seq.is_some() && lines[second].seq.is_some() {
            let ExportFinding { line, seq, fault } = found.unwrap_err();
            prop_assert_eq!((line, seq, fault), (first as u64 + 1, lines[first].seq, Fault::Reordered));
        }
    }
}
