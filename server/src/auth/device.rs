//! What a browser is called in the list of sessions.

const BROWSERS: [(&str, &str); 6] = [
    // The others' names stand in these browsers' too: the order counts.
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

const SYSTEMS: [(&str, &str); 6] = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// A few words for a `User-Agent`.
pub(super) fn label(user_agent: &str) -> String {
    let find = |table: &[(&str, &'static str)]| {
        table.iter().find(|(mark, _)| user_agent.contains(mark)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.into(),
        (None, None) => "Unknown browser".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_apart() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/140.0.0.0 Safari/537.36";
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 \
                      (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
        assert_eq!(label(chrome), "Chrome on Linux");
        assert_eq!(label(&format!("{chrome} Edg/140.0")), "Edge on Linux");
        assert_eq!(label(safari), "Safari on iPhone");
        assert_eq!(label("<script>"), "Unknown browser");
    }
}
