//! Markdown that an agent wrote, as HTML that a page can trust.
//!
//! The HTML has no style and no script, nothing in it loads from anywhere, and its links open
//! elsewhere. HTML within the Markdown is shown as the text that it is.

mod code;
mod sanitise;

use std::iter::Peekable;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html,
};

/// The HTML of each block of a text (a paragraph, a list, a code block), in order.
///
/// While a text grows at its end, its earlier blocks stay the same, all but the last one or two.
pub fn blocks(source: &str) -> Vec<String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut events = Parser::new_ext(source, options).peekable();
    let mut blocks = Vec::new();
    while events.peek().is_some() {
        let html = block(&mut events);
        if !html.trim().is_empty() {
            blocks.push(html);
        }
    }
    blocks
}

/// The next block.
fn block<'a>(events: &mut Peekable<impl Iterator<Item = Event<'a>>>) -> String {
    let mut depth = 0_usize;
    let mut taken = Vec::new();
    while let Some(event) = events.next() {
        match &event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = language(kind);
                taken.push(Event::Html(code_block(&language, events).into()));
            }
            _ => {
                match &event {
                    Event::Start(_) => depth += 1,
                    Event::End(_) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                taken.extend(plain(event));
            }
        }
        if depth == 0 {
            break;
        }
    }
    let mut html = String::new();
    push_html(&mut html, taken.into_iter());
    sanitise::clean(&html)
}

/// An event that has nothing of its own in it that a page should not have.
fn plain(event: Event<'_>) -> Option<Event<'_>> {
    Some(match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        // Below the headings of the page.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        // An image would tell its server who reads this.
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::TaskListMarker(done) => {
            Event::Text(if done { "\u{2611} " } else { "\u{2610} " }.into())
        }
        event => event,
    })
}

const fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// The first word behind the fence.
fn language(kind: &CodeBlockKind<'_>) -> String {
    let info = match kind {
        CodeBlockKind::Fenced(info) => info.clone(),
        CodeBlockKind::Indented => CowStr::Borrowed(""),
    };
    info.split(|c: char| c.is_whitespace() || c == ',' || c == '{').next().unwrap_or("").to_owned()
}

fn code_block<'a>(language: &str, events: &mut impl Iterator<Item = Event<'a>>) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(piece) => text.push_str(&piece),
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", code::highlighted(&text, language))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn html(source: &str) -> String {
        blocks(source).concat()
    }

    #[test]
    fn k_004_blocks_come_one_by_one() {
        let source = "# Done\n\nIt *works*:\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        let found = blocks(source);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(found[0], "<h3>Done</h3>\n");
        assert_eq!(found[1], "<p>It <em>works</em>:</p>\n");
        assert!(found[3].starts_with("<table>"), "{found:?}");
    }

    #[test]
    fn k_004_a_text_that_grows_keeps_its_earlier_blocks() {
        let source = "One.\n\n```rust\nfn main() {}\n```\n\n- a\n- b\n\nEnd *of* it.";
        let whole = blocks(source);
        for end in (0..source.len()).filter(|end| source.is_char_boundary(*end)) {
            let part = blocks(&source[..end]);
            let kept = part.len().saturating_sub(2);
            assert_eq!(part[..kept], whole[..kept], "{end}");
        }
    }

    #[test]
    fn k_004_code_is_highlighted_by_class_and_stays_text() {
        let found = html("```rust\nlet x = \"<b>\"; // c\n```\n");
        assert!(
            found.starts_with("<pre tabindex=\"0\"><code><span class=\"k\">let</span>"),
            "{found}"
        );
        assert!(found.contains("<span class=\"s\">\"&lt;b&gt;\"</span>"), "{found}");
        assert!(found.contains("<span class=\"c\">// c\n</span>"), "{found}");
        let unknown = html("```klingon\na < b\n```");
        assert_eq!(unknown, "<pre tabindex=\"0\"><code>a &lt; b\n</code></pre>\n");
        assert_eq!(html("```rust\nfn"), html("```rust\nfn\n```"), "while it is written");
    }

    #[test]
    fn k_004_nothing_of_an_agent_is_markup() {
        for (source, wanted) in [
            ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
            ("a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n"),
        ] {
            assert_eq!(html(source), wanted);
        }
        let link = html("[a](https://x.test/?q=1)");
        assert!(
            link.contains("href=\"https://x.test/?q=1\"") && link.contains("noopener"),
            "{link}"
        );
        for source in ["[a](javascript:alert(1))", "[a](data:text/html,x)", "[a](file:///etc)"] {
            assert!(!html(source).contains("href"), "{source}");
        }
        let image = html("![a cat](https://x.test/cat.png)");
        assert!(!image.contains("<img") && image.contains(">a cat</a>"), "{image}");
    }

    #[test]
    fn k_004_lists_of_tasks_and_headings_of_any_level_are_shown() {
        let tasks = html("- [x] done\n- [ ] open");
        assert!(tasks.contains("\u{2611} done") && tasks.contains("\u{2610} open"), "{tasks}");
        assert_eq!(html("###### six"), "<h6>six</h6>\n");
    }

    proptest! {
        #[test]
        fn k_004_any_text_comes_without_scripts_handlers_and_styles(source in "[ -~\n<>`*_#|\\[\\]()!-]{0,200}") {
            let found = html(&source);
            for bad in ["<script", "<img", "<style", "<iframe", " onclick=\"", " style=\"", "javascript:alert"] {
                prop_assert!(!found.contains(bad) || source.contains(bad), "{found}");
            }
        }
    }
}
