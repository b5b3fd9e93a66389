// Runs before the first paint, so that neither a chosen theme nor the plain tables flicker.
document.documentElement.className = "script";
try {
  document.documentElement.dataset.theme = localStorage.getItem("mojimeter-theme") || "auto";
} catch (error) {
  document.documentElement.dataset.theme = "auto";
}
