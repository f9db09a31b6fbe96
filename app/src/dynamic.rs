//! Parts of the page that change as a whole.

use leptos::prelude::*;

/// A part that is made anew when something it reads has changed.
///
/// Boxed, so that all parts share one type: each closure of its own would bring its own copy of the
/// machinery that renders closures, and those copies were a good part of what a phone loads.
pub fn part<V: IntoView + 'static>(view: impl Fn() -> V + Send + 'static) -> AnyView {
    let view: Box<dyn FnMut() -> AnyView + Send> = Box::new(move || view().into_any());
    view.into_any()
}
