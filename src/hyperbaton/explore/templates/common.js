// What several pages do: light or dark, and copying.

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("hyperbaton-theme", theme); } catch { /* storage is switched off */ }
}

function startTheme() {
  let theme = null;
  try { theme = localStorage.getItem("hyperbaton-theme"); } catch { /* storage is switched off */ }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = theme ?? (dark.matches ? "dark" : "light");
  if (!theme) dark.addEventListener("change", () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; });
}

byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // only pages of a secure origin have a clipboard
    const area = make("textarea", { class: "aside" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
