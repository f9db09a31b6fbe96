//! A link as a QR code that a phone's camera reads off the terminal.

use std::io::IsTerminal as _;

use qrcode::{QrCode, render::unicode::Dense1x2, types::QrError};

/// Black on white, whatever the terminal's own colours are.
const BLACK_ON_WHITE: &str = "\x1b[38;5;16;48;5;231m";
const RESET: &str = "\x1b[0m";

/// Lines of half blocks, two modules high each.
pub(super) fn render(link: &str) -> Result<String, QrError> {
    let code = QrCode::new(link)?.render::<Dense1x2>().quiet_zone(true).build();
    if !std::io::stdout().is_terminal() {
        return Ok(code);
    }
    let lines: Vec<_> = code.lines().map(|line| format!("{BLACK_ON_WHITE}{line}{RESET}")).collect();
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_into_a_terminal() {
        let link = format!("http://192.168.100.100:38429/login#{}", "x".repeat(43));
        let code = render(&link).unwrap();
        assert!(code.lines().count() <= 24, "{code}");
        assert!(code.contains('\u{2588}'), "{code}");
    }
}
