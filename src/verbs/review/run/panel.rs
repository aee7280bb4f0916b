//! The state of a panel: its members, how far each has come, and what is next. Their votes are not shown.

use andon_core::domain::plural::count;
use andon_review::round::{Panel, Seat};

/// What a member has done.
fn state(seat: &Seat) -> &'static str {
    match (seat.vote, seat.commit) {
        (Some(_), _) => "has revealed",
        (None, Some(_)) => "has voted",
        (None, None) => "has a seat",
    }
}

/// The size, and each member.
pub(super) fn members(panel: &Panel) -> String {
    let seats: Vec<String> =
        panel.seats.iter().map(|seat| format!("{} {}", seat.witness, state(seat))).collect();
    let free = panel.size.saturating_sub(panel.seats.len());
    let free = match free {
        0 => None,
        free => Some(count(free, "free seat")),
    };
    let all: Vec<String> = seats.into_iter().chain(free).collect();
    format!("panel of {}: {}", panel.size, all.join(", "))
}

/// What is to be done next, with the command.
pub(super) fn next(panel: &Panel, round: &str) -> String {
    let has_voted = |seat: &Seat| seat.commit.is_some() || seat.vote.is_some();
    let voted = panel.seats.iter().filter(|seat| has_voted(seat)).count();
    if voted == panel.size {
        format!("all have voted; each member opens their ballot: andon sync && andon review reveal {round}")
    } else if panel.seats.len() < panel.size {
        format!("witnesses take seats: andon sync && andon review accept {round}")
    } else {
        format!("each member votes: andon sync && andon review ballot {round}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use andon_review::round::PanelCause;

    #[test]
    fn each_step_names_who_has_come_how_far_and_what_is_next() {
        let mut panel = Panel {
            size: 3,
            cause: PanelCause::Request,
            opening: 0,
            deadline: 9,
            seats: vec![Seat::new("human:bo", 1), Seat::new("human:cy", 2)],
            is_open: true,
        };
        assert_eq!(members(&panel), "panel of 3: human:bo has a seat, human:cy has a seat, 1 free seat");
        assert!(next(&panel, "1a2b").ends_with("andon review accept 1a2b"));
        panel.seats.push(Seat::new("human:di", 3));
        panel.seats[0].commit = Some(7);
        assert_eq!(
            members(&panel),
            "panel of 3: human:bo has voted, human:cy has a seat, human:di has a seat"
        );
        assert!(next(&panel, "1a2b").ends_with("andon review ballot 1a2b"));
        for (at, seat) in panel.seats.iter_mut().enumerate() {
            seat.commit = Some(at);
        }
        panel.seats[1].vote = Some(0);
        assert!(members(&panel).contains("human:cy has revealed"), "{}", members(&panel));
        assert!(next(&panel, "1a2b").ends_with("andon review reveal 1a2b"));
    }
}
