//! What HTML may hold, whoever made it.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use ammonia::Builder;

use crate::code::CLASSES;

static RULES: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut rules = Builder::new();
    rules
        .tags(HashSet::from([
            "a",
            "blockquote",
            "br",
            "code",
            "del",
            "em",
            "h3",
            "h4",
            "h5",
            "h6",
            "hr",
            "li",
            "ol",
            "p",
            "pre",
            "span",
            "strong",
            "table",
            "tbody",
            "td",
            "th",
            "thead",
            "tr",
            "ul",
        ]))
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href", "title"])),
            ("ol", HashSet::from(["start"])),
            ("pre", HashSet::from(["tabindex"])),
        ]))
        .generic_attributes(HashSet::new())
        .allowed_classes(HashMap::from([("span", HashSet::from(CLASSES))]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .set_tag_attribute_value("a", "target", "_blank")
        .link_rel(Some("noopener noreferrer"));
    rules
});

/// The HTML without what it may not hold.
pub(crate) fn clean(html: &str) -> String {
    RULES.clean(html).to_string()
}
