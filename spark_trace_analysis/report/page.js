// A link into a closed part opens it.
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const around = target && target.closest("details");
  if (around && !around.open) {
    around.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", reveal);
reveal();

// The contents say where one is.
const places = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) places.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting);
}, { rootMargin: "-20% 0px -70% 0px" });
for (const id of places.keys()) watch.observe(document.getElementById(id));

// What is folded is printed too.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
