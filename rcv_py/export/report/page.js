function value(cell) { var text = cell.dataset.v || cell.textContent.replace(/[,<\s]/g, "");
  return /^-?[0-9]/.test(text) ? parseFloat(text) : NaN; }
document.querySelectorAll("th").forEach(function (head) {
  head.addEventListener("click", function () {
    var body = head.closest("table").tBodies[0], at = head.cellIndex, first = head.dataset.first !== "1";
    var sign = (first ? 1 : -1) * (head.dataset.n !== undefined ? -1 : 1);
    head.dataset.first = first ? "1" : "";
    Array.from(body.rows).sort(function (a, b) {
      var x = a.cells[at], y = b.cells[at], n = head.dataset.n !== undefined;
      if (!n) return sign * x.textContent.localeCompare(y.textContent);
      x = value(x); y = value(y);
      return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
    }).forEach(function (row) { body.appendChild(row); });
  });
});
function shown() { var id = decodeURIComponent(location.hash.slice(1)),
  e = id && document.getElementById(id), d = e && e.closest("details");
  if (d) { d.open = true; e.scrollIntoView(); } }
addEventListener("hashchange", shown); shown();
