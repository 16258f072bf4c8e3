//! Brace expansion: `{a,b}` and `{1..3}`.

use crate::syntax::tree::Atom;

/// Largest number of words that one word becomes.
const MOST: usize = 64;

/// Largest number of characters of these words together.
const LONGEST: usize = 64 * 1024;

/// The reason why the words are not certain.
const UNCERTAIN: &str = "the words that the braces become are not certain";

/// Expands the braces in a word.
pub(crate) fn expand(atoms: &[Atom]) -> Result<Vec<Vec<Atom>>, &'static str> {
    let count = |sign: char| atoms.iter().filter(|atom| is_bare(atom, sign)).count();
    let open = count('{');
    if open == 0 {
        return Ok(vec![atoms.to_vec()]);
    }
    let divided = count(',') > 0 || has_range(atoms);
    if !divided {
        return Ok(vec![atoms.to_vec()]);
    }
    if open > 12 || !is_balanced(atoms) {
        return Err(UNCERTAIN);
    }
    let words = expand_balanced(atoms)?;
    let expanded = words.len() > 1 || words.first().is_some_and(|word| word.len() != atoms.len());
    if expanded && (count('$') > 0 || words.iter().any(|word| extends_name(word))) {
        return Err(UNCERTAIN);
    }
    Ok(words)
}

fn is_bare(atom: &Atom, sign: char) -> bool {
    matches!(atom, Atom::Bare(c) if *c == sign)
}

fn has_range(atoms: &[Atom]) -> bool {
    atoms.windows(2).any(|pair| pair.iter().all(|atom| is_bare(atom, '.')))
}

fn is_balanced(atoms: &[Atom]) -> bool {
    let mut depth = 0_usize;
    for atom in atoms {
        if is_bare(atom, '{') {
            depth += 1;
        } else if is_bare(atom, '}') {
            let Some(less) = depth.checked_sub(1) else { return false };
            depth = less;
        }
    }
    depth == 0
}

/// Says whether a name without braces would become longer: `$x{a,b}` is `$xa $xb`.
fn extends_name(word: &[Atom]) -> bool {
    word.windows(2).any(|pair| match pair {
        [Atom::Variable { braced: false, quoted: false, .. }, Atom::Bare(c)] => {
            *c == '_' || *c == '[' || c.is_ascii_alphanumeric()
        }
        _ => false,
    })
}

fn expand_balanced(atoms: &[Atom]) -> Result<Vec<Vec<Atom>>, &'static str> {
    let Some(open) = atoms.iter().position(|atom| is_bare(atom, '{')) else { return Ok(vec![atoms.to_vec()]) };
    let (before, rest) = atoms.split_at(open);
    let rest = rest.get(1..).unwrap_or_default();
    let Some((content, after)) = split_at_close(rest) else {
        return Ok(with_prefix(before, vec![atoms.get(open..).unwrap_or_default().to_vec()]));
    };
    let alternatives = split_at_commas(content);
    let mut middles = Vec::new();
    if alternatives.len() > 1 {
        for alternative in alternatives {
            middles.extend(expand_balanced(alternative)?);
        }
    } else if let Some(range) = range(content)? {
        middles = range;
    } else {
        // The braces are plain; those inside them may not be.
        let mut prefix = before.to_vec();
        prefix.push(Atom::Bare('{'));
        return Ok(with_prefix(&prefix, expand_balanced(rest)?));
    }
    let ends = expand_balanced(after)?;
    if middles.len() * ends.len() > MOST || middles.len() * ends.len() * atoms.len() > LONGEST {
        return Err("the braces become too many words");
    }
    let mut words = Vec::new();
    for middle in &middles {
        for end in &ends {
            words.push([before, middle.as_slice(), end.as_slice()].concat());
        }
    }
    Ok(words)
}

fn with_prefix(prefix: &[Atom], words: Vec<Vec<Atom>>) -> Vec<Vec<Atom>> {
    words.into_iter().map(|word| [prefix, word.as_slice()].concat()).collect()
}

/// Splits what follows a `{` at its `}`.
fn split_at_close(atoms: &[Atom]) -> Option<(&[Atom], &[Atom])> {
    let mut depth = 0_usize;
    for (at, atom) in atoms.iter().enumerate() {
        if is_bare(atom, '{') {
            depth += 1;
        } else if is_bare(atom, '}') {
            if depth == 0 {
                return Some((atoms.get(..at)?, atoms.get(at + 1..)?));
            }
            depth -= 1;
        }
    }
    None
}

fn split_at_commas(atoms: &[Atom]) -> Vec<&[Atom]> {
    let mut depth = 0_usize;
    atoms
        .split(|atom| {
            if is_bare(atom, '{') {
                depth += 1;
            } else if is_bare(atom, '}') {
                depth = depth.saturating_sub(1);
            }
            depth == 0 && is_bare(atom, ',')
        })
        .collect()
}

/// The words of a range such as `1..10..2` or `a..e`.
fn range(content: &[Atom]) -> Result<Option<Vec<Vec<Atom>>>, &'static str> {
    let bare = |atom: &Atom| if let Atom::Bare(c) = atom { Some(*c) } else { None };
    let Some(text) = content.iter().map(bare).collect::<Option<String>>() else {
        return if has_range(content) { Err(UNCERTAIN) } else { Ok(None) };
    };
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match parts.as_slice() {
        [from, to] => (*from, *to, "1"),
        [from, to, step] => (*from, *to, *step),
        [_] => return Ok(None),
        _ => return Err(UNCERTAIN),
    };
    let step = step.parse::<i64>().map_err(|_| UNCERTAIN)?.abs();
    if step == 0 {
        return Err(UNCERTAIN);
    }
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let padded =
            |number: &str| number.trim_start_matches('-').starts_with('0') && number.trim_start_matches('-').len() > 1;
        let plain = !from.starts_with('+') && !to.starts_with('+');
        let width = if padded(from) || padded(to) { from.len().max(to.len()) } else { 0 };
        let numbers = steps(first, last, step).filter(|_| plain && (width == 0 || (first >= 0 && last >= 0)));
        let numbers = numbers.ok_or(UNCERTAIN)?;
        return Ok(Some(numbers.iter().map(|number| atoms_of(&format!("{number:0width$}"))).collect()));
    }
    let letter = |text: &str| text.chars().next().filter(|c| c.is_ascii_alphabetic() && text.len() == 1);
    let (Some(first), Some(last)) = (letter(from), letter(to)) else { return Err(UNCERTAIN) };
    if first.is_ascii_lowercase() != last.is_ascii_lowercase() {
        return Err(UNCERTAIN);
    }
    let codes = steps(i64::from(u32::from(first)), i64::from(u32::from(last)), step).ok_or(UNCERTAIN)?;
    let letters = codes.iter().filter_map(|code| u32::try_from(*code).ok().and_then(char::from_u32));
    Ok(Some(letters.map(|letter| vec![Atom::Bare(letter)]).collect()))
}

/// The numbers from one to another, if they are not too many.
fn steps(first: i64, last: i64, step: i64) -> Option<Vec<i64>> {
    let distance = first.checked_sub(last)?.checked_abs()?;
    let count = usize::try_from(distance / step).ok().filter(|count| *count < MOST)?;
    let step = if first <= last { step } else { -step };
    (0..=count).map(|at| first.checked_add(step.checked_mul(i64::try_from(at).ok()?)?)).collect()
}

fn atoms_of(text: &str) -> Vec<Atom> {
    text.chars().map(Atom::Bare).collect()
}
