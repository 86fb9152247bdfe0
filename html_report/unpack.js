// Drawings and schedules in steps are packed: they are put in before anything else is done with the page.
const unpack = async () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (letter) => letter.charCodeAt(0));
  const parts = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  for (const place of document.querySelectorAll("[data-packed]")) place.innerHTML = parts[place.dataset.packed];
};
