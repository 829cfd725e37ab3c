"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const hidden = new Set();
  const bar = (...buttons) => ({ displaylogo: false, responsive: true, modeBarButtons: [buttons] });
  const flat = bar("toImage", "zoom2d", "pan2d", "resetScale2d");
  const deep = bar("toImage", "orbitRotation", "pan3d", "resetCameraDefault3d");
  let theme = "light";
  let camera = { eye: { x: 1.2, y: -1.5, z: 0.75 }, center: { x: 0, y: 0, z: -0.1 } };

  // Colours by name.
  const colour = (name, opacity) => {
    const hex = report.themes[theme][name];
    if (!opacity) return hex;
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return `rgba(${r},${g},${b},${opacity})`;
  };
  const painted = (node) => {
    if (typeof node === "string") {
      const found = /^@(\w+)(?:\/([\d.]+))?$/.exec(node);
      return found ? colour(found[1], found[2]) : node;
    }
    if (Array.isArray(node)) return node.map(painted);
    if (node && typeof node === "object")
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, painted(value)]));
    return node;
  };
  const axis = { gridcolor: "@grid", zeroline: false, linecolor: "@faint", color: "@muted",
    tickfont: { size: 12 }, fixedrange: false };
  const drawn = (plot) => {
    const layout = { ...plot.layout };
    for (const name of ["xaxis", "yaxis"]) {
      layout[name] = { ...axis, ...layout[name] };
      if (layout[name].title) layout[name].title = { ...layout[name].title, standoff: 10, font: { size: 12.5 } };
    }
    return painted({
      data: plot.data.map((trace) => ({ ...trace, visible: !hidden.has(trace.meta) })),
      layout: { font: { family: getComputedStyle(document.body).fontFamily, color: "@ink" },
        paper_bgcolor: "@paper", plot_bgcolor: "@paper", showlegend: false, autosize: true,
        hoverlabel: { bgcolor: "@paper", bordercolor: "@grid", font: { color: "@ink" } }, ...layout },
    });
  };
  const show = (place, plot) => {
    const { data, layout } = drawn(plot);
    return Plotly.react(place, data, layout, layout.scene ? deep : flat);
  };
  const places = [...document.querySelectorAll("[data-plot]")];
  const showCharts = () => places.forEach((place) => show(place, report.plots[place.dataset.plot]));

  // The network of one run.
  const letters = Object.keys(report.states);
  let journey = report.journeys[0];
  let now = 0;
  const at = (member, index) => member.places[Math.min(index, member.places.length - 1)];
  const named = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  const presence = () => {
    const tokens = letters.map((letter) => report.states[letter][0]);
    const words = (letter) => (report.states[letter] || ["", "not yet there"])[1];
    const scale = tokens.flatMap((token, n) => [[n / tokens.length, `@${token}`], [(n + 1) / tokens.length, `@${token}`]]);
    const ids = journey.members.map((member) => named(member.id));
    const marks = { f: ["@ink", [], []], l: ["@paper", [], []] };
    journey.members.forEach((member, row) => [...member.states].forEach((letter, index) => {
      if (marks[letter]) { marks[letter][1].push(journey.rounds[index]); marks[letter][2].push(ids[row]); }
    }));
    const many = ids.length > 40;
    const height = Math.max(450, Math.min(900, 70 + (many ? 9 : 24) * ids.length));
    get("presence").style.height = `${height}px`;
    get("flight").style.height = `${Math.min(490, height + 30)}px`;
    const crosses = Object.entries(marks).map(([letter, [ink, x, y]]) => ({
      type: "scatter", mode: "markers", x, y, hoverinfo: "skip",
      marker: { symbol: "x-thin", size: 6, line: { width: 1.6, color: theme === "dark" && letter === "f" ? "@paper" : ink } } }));
    return { data: [{
      type: "heatmap", x: journey.rounds, y: ids, xgap: 1.5, ygap: many ? 1 : 3, showscale: false,
      z: journey.members.map((member) => [...member.states].map((letter) => letters.includes(letter) ? letters.indexOf(letter) + 0.5 : null)),
      text: journey.members.map((member) => [...member.states].map(words)),
      zmin: 0, zmax: letters.length, colorscale: scale, hoverongaps: false,
      hovertemplate: "%{y}, round %{x}: %{text}<extra></extra>" }, ...crosses],
      layout: { hovermode: "closest", margin: { l: 20, r: 12, t: 30, b: 46 },
        xaxis: { title: { text: "round" }, showgrid: false, tickformat: "d",
          range: [journey.rounds[0] - 0.5, journey.rounds.at(-1) + 0.5] },
        yaxis: { range: [ids.length - 0.5, -0.5], showgrid: false, type: "category", automargin: true,
          showticklabels: !many, ticksuffix: " ", ticks: "" },
        shapes: [frame()] } };
  };
  const frame = () => ({ type: "rect", yref: "paper", y0: 0, y1: 1, x0: journey.rounds[now] - 0.5,
    x1: journey.rounds[now] + 0.5, line: { color: colour("server"), width: 2 } });

  const points = (name, members, marker) => {
    const where = members.map((member) => at(member, now));
    return { type: "scatter3d", mode: "markers", name, marker, x: where.map((p) => p[0]),
      y: where.map((p) => p[1]), z: where.map((p) => p[2]), hoverinfo: "text",
      hovertext: members.map((member) => `<b>${named(member.id)}</b><br>${name}<br>${at(member, now).map((c) => c.toFixed(1)).join(", ")} m`) };
  };
  const line = (stops, token, width, opacity, dash) => ({ type: "scatter3d", mode: "lines", hoverinfo: "skip",
    showlegend: false, opacity, x: stops.map((p) => p && p[0]), y: stops.map((p) => p && p[1]),
    z: stops.map((p) => p && p[2]), line: { color: token, width, dash: dash || "solid" } });
  const flight = () => {
    const who = (wanted) => journey.members.filter((m) => m.places.length && wanted.includes(m.states[now]));
    const path = journey.server_m.slice(0, now + 1).filter(Boolean);
    const here = path.at(-1);
    const links = here ? who("a").flatMap((member) => [at(member, now), here, null]) : [];
    const poles = journey.members.filter((m) => m.places.length && "apf".includes(m.states[now]) && at(m, now)[2] > 0)
      .flatMap((m) => [at(m, now), [...at(m, now).slice(0, 2), 0], null]);
    const size = journey.region_m, longest = Math.max(...size);
    const sides = Object.fromEntries(["x", "y", "z"].map((name, n) => [`${name}axis`, {
      title: { text: `${name} (m)`, font: { size: 12 } }, range: [-0.02 * size[n], size[n]], gridcolor: "@grid",
      zerolinecolor: "@grid", backgroundcolor: "@page", showbackground: true, color: "@muted", tickfont: { size: 11 } }]));
    return { data: [
      line(poles, "@faint", 1.5, 0.6, "dot"), line(links, "@server", 2, 0.4),
      line(journey.server_m.slice(now).filter(Boolean), "@faint", 2, 0.6, "dot"), line(path, "@server", 5, 1),
      points("active", who("a"), { symbol: "circle", size: 6, color: "@active" }),
      points("present, off", who("p"), { symbol: "circle-open", size: 6, color: "@active", line: { color: "@active", width: 2 } }),
      points("link failed", who("f"), { symbol: "square", size: 6, color: "@failed" }),
      points("left", who("lg"), { symbol: "cross", size: 4, color: "@faint" }),
      { type: "scatter3d", mode: "markers", name: "server", hoverinfo: "text", x: here ? [here[0]] : [], y: here ? [here[1]] : [],
        z: here ? [here[2]] : [], hovertext: ["server"], marker: { symbol: "diamond", size: 8, color: "@server" } }],
      layout: { margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: true,
        legend: { orientation: "h", x: 0, y: 0, yanchor: "bottom", itemsizing: "constant", font: { size: 12, color: "@muted" } },
        scene: { ...sides, domain: { x: [0, 1], y: [0.07, 1] }, aspectmode: "manual", camera, uirevision: "kept",
          aspectratio: { x: size[0] / longest, y: size[1] / longest, z: size[2] / longest } } } };
  };

  const showRound = (index) => {
    now = Math.max(0, Math.min(journey.rounds.length - 1, index));
    get("round").value = now;
    get("now").textContent = journey.rounds[now];
    const stands = journey.server_m[now];
    const active = journey.members.filter((m) => m.states[now] === "a").length;
    const there = journey.members.filter((m) => "apfl".includes(m.states[now])).length;
    get("place").textContent = `Round ${journey.rounds[now]}: ${active} of ${there} devices active` +
      (stands ? `, server at ${stands.map((c) => c.toFixed(0)).join(", ")} m.` : ".");
    Plotly.relayout("presence", { shapes: [frame()] });
    show("flight", flight());
  };
  const showRun = (number, round) => {
    journey = report.journeys[number];
    now = Math.min(round, journey.rounds.length - 1);
    get("round").max = journey.rounds.length - 1;
    show("presence", presence()).then((place) => {
      place.removeAllListeners("plotly_click");
      place.on("plotly_click", (event) => showRound(journey.rounds.indexOf(event.points[0].x)));
    });
    showRound(now);
    get("flight").removeAllListeners("plotly_relayout");
    get("flight").on("plotly_relayout", (change) => { camera = change["scene.camera"] || camera; });
  };

  let playing = null;
  const stop = () => { clearInterval(playing); playing = null; get("play").textContent = "Play"; };
  get("play").addEventListener("click", () => {
    if (playing) return stop();
    get("play").textContent = "Pause";
    if (now === journey.rounds.length - 1) showRound(0);
    playing = setInterval(() => (now < journey.rounds.length - 1 ? showRound(now + 1) : stop()), 450);
  });
  get("round").addEventListener("input", (event) => { stop(); showRound(+event.target.value); });
  get("run").addEventListener("change", (event) => { stop(); showRun(+event.target.value, now); });

  for (const chip of document.querySelectorAll(".chip"))
    chip.addEventListener("click", () => {
      const off = !hidden.delete(chip.dataset.method);
      if (off) hidden.add(chip.dataset.method);
      chip.setAttribute("aria-pressed", String(!off));
      showCharts();
    });

  const dress = (wanted) => {
    theme = wanted;
    document.documentElement.dataset.theme = theme;
    get("theme").textContent = theme === "dark" ? "Light" : "Dark";
    showCharts();
    showRun(+get("run").value, now);
  };
  get("theme").addEventListener("click", () => dress(theme === "dark" ? "light" : "dark"));
  now = journey.rounds.length - 1;
  const asked = /theme=(light|dark)/.exec(location.hash);
  dress(asked ? asked[1] : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
})();
