"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);
  const hidden = new Set();
  const bar = (...buttons) => ({ displaylogo: false, responsive: true, modeBarButtons: [buttons] });
  const toolbar2d = bar("toImage", "zoom2d", "pan2d", "resetScale2d");
  const toolbar3d = bar("toImage", "orbitRotation", "pan3d", "resetCameraDefault3d");
  let theme = "light";
  let camera = { eye: { x: 1.2, y: -1.5, z: 0.75 }, center: { x: 0, y: 0, z: -0.1 } };

  // Resolve `@name` and `@name/opacity` to the colours of the current theme.
  const colour = (name, opacity) => {
    const hex = report.themes[theme][name];
    if (!opacity) return hex;
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return `rgba(${r},${g},${b},${opacity})`;
  };
  const withColours = (node) => {
    if (typeof node === "string") {
      const match = /^@(\w+)(?:\/([\d.]+))?$/.exec(node);
      return match ? colour(match[1], match[2]) : node;
    }
    if (Array.isArray(node)) return node.map(withColours);
    if (node && typeof node === "object")
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withColours(value)]));
    return node;
  };
  const axis = { gridcolor: "@grid", zeroline: false, linecolor: "@faint", color: "@muted",
    tickfont: { size: 12 }, fixedrange: false };
  const themed = (plot) => {
    const layout = { ...plot.layout };
    for (const name of ["xaxis", "yaxis"]) {
      layout[name] = { ...axis, ...layout[name] };
      if (layout[name].title) layout[name].title = { ...layout[name].title, standoff: 10, font: { size: 12.5 } };
    }
    return withColours({
      data: plot.data.map((trace) => ({ ...trace, visible: !hidden.has(trace.meta) })),
      layout: { font: { family: getComputedStyle(document.body).fontFamily, color: "@ink" },
        paper_bgcolor: "@paper", plot_bgcolor: "@paper", showlegend: false, autosize: true,
        hoverlabel: { bgcolor: "@paper", bordercolor: "@grid", font: { color: "@ink" } }, ...layout },
    });
  };
  const show = (element, plot) => {
    const { data, layout } = themed(plot);
    return Plotly.react(element, data, layout, layout.scene ? toolbar3d : toolbar2d);
  };
  const plotElements = [...document.querySelectorAll("[data-plot]")];
  const showCharts = () => plotElements.forEach((element) => show(element, report.plots[element.dataset.plot]));

  // The network of the selected run.
  const stateLetters = Object.keys(report.states);
  let history = report.histories[0];
  let now = 0;
  const positionAt = (device, index) => device.positions[Math.min(index, device.positions.length - 1)];
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  const presence = () => {
    const colours = stateLetters.map((letter) => report.states[letter][0]);
    const stateLabel = (letter) => (report.states[letter] || ["", "not yet entered"])[1];
    const scale = colours.flatMap((name, n) => [[n / colours.length, `@${name}`], [(n + 1) / colours.length, `@${name}`]]);
    const ids = history.devices.map((device) => escaped(device.id));
    const marks = { f: ["@ink", [], []], l: ["@paper", [], []] };
    history.devices.forEach((device, row) => [...device.states].forEach((letter, index) => {
      if (marks[letter]) { marks[letter][1].push(history.rounds[index]); marks[letter][2].push(ids[row]); }
    }));
    const many = ids.length > 40;
    const height = Math.max(450, Math.min(900, 70 + (many ? 9 : 24) * ids.length));
    get("presence").style.height = `${height}px`;
    get("flight").style.height = `${Math.min(490, height + 30)}px`;
    const crosses = Object.entries(marks).map(([letter, [ink, x, y]]) => ({
      type: "scatter", mode: "markers", x, y, hoverinfo: "skip",
      marker: { symbol: "x-thin", size: 6, line: { width: 1.6, color: theme === "dark" && letter === "f" ? "@paper" : ink } } }));
    return { data: [{
      type: "heatmap", x: history.rounds, y: ids, xgap: 1.5, ygap: many ? 1 : 3, showscale: false,
      z: history.devices.map((device) => [...device.states].map((letter) => stateLetters.includes(letter) ? stateLetters.indexOf(letter) + 0.5 : null)),
      text: history.devices.map((device) => [...device.states].map(stateLabel)),
      zmin: 0, zmax: stateLetters.length, colorscale: scale, hoverongaps: false,
      hovertemplate: "%{y}, round %{x}: %{text}<extra></extra>" }, ...crosses],
      layout: { hovermode: "closest", margin: { l: 20, r: 12, t: 30, b: 46 },
        xaxis: { title: { text: "round" }, showgrid: false, tickformat: "d", dtick: history.rounds.length > 12 ? undefined : 1,
          range: [history.rounds[0] - 0.5, history.rounds.at(-1) + 0.5] },
        yaxis: { range: [ids.length - 0.5, -0.5], showgrid: false, type: "category", automargin: true,
          showticklabels: !many, ticksuffix: " ", ticks: "" },
        shapes: [frame()] } };
  };
  const frame = () => ({ type: "rect", yref: "paper", y0: 0, y1: 1, x0: history.rounds[now] - 0.5,
    x1: history.rounds[now] + 0.5, line: { color: colour("server"), width: 2 } });

  const batteries = () => {
    const line = (name, levels, width, paint) => ({ type: "scatter", mode: "lines", name: escaped(name), x: history.rounds,
      y: levels, line: { width, color: paint, shape: "hv" }, hovertemplate: "%{y:.4g} J" });
    const owners = history.devices.filter((device) => device.battery_j);
    const colours = Object.keys(report.themes.light).filter((name) => /^method\d+$/.test(name));
    const lines = owners.map((device, n) => line(device.id, device.battery_j, 1.8, `@${colours[n % colours.length]}`));
    const ofServer = history.server_battery_j ? [{ ...line("server (right axis)", history.server_battery_j, 2.6, "@server"),
      ...(owners.length ? { yaxis: "y2" } : {}) }] : [];
    return { data: [...lines, ...ofServer], layout: { hovermode: "x unified", margin: { l: 58, r: 12, t: 16, b: 46 },
      showlegend: lines.length <= 16, legend: { x: 1.06, font: { size: 12, color: "@muted" } }, shapes: [frame()],
      yaxis2: { overlaying: "y", side: "right", showgrid: false, rangemode: "tozero", color: "@server", visible: ofServer.length > 0 },
      xaxis: { title: { text: "round" }, showgrid: false, tickformat: "d", dtick: history.rounds.length > 12 ? undefined : 1,
        range: [history.rounds[0] - 0.5, history.rounds.at(-1) + 0.5] },
      yaxis: { title: { text: "J left" }, rangemode: "tozero" } } };
  };
  const points = (name, devices, marker) => {
    const positions = devices.map((device) => positionAt(device, now));
    return { type: "scatter3d", mode: "markers", name, marker, x: positions.map((p) => p[0]),
      y: positions.map((p) => p[1]), z: positions.map((p) => p[2]), hoverinfo: "text",
      hovertext: devices.map((device) => `<b>${escaped(device.id)}</b><br>${name}<br>${positionAt(device, now).map((c) => c.toFixed(1)).join(", ")} m`) };
  };
  const line = (stops, paint, width, opacity, dash) => ({ type: "scatter3d", mode: "lines", hoverinfo: "skip",
    showlegend: false, opacity, x: stops.map((p) => p && p[0]), y: stops.map((p) => p && p[1]),
    z: stops.map((p) => p && p[2]), line: { color: paint, width, dash: dash || "solid" } });
  const flight = () => {
    const inState = (letters) => history.devices.filter((device) => device.positions.length && letters.includes(device.states[now]));
    const path = history.server_m.slice(0, now + 1).filter(Boolean);
    const here = path.at(-1);
    const links = here ? inState("a").flatMap((device) => [positionAt(device, now), here, null]) : [];
    const poles = inState("apf").map((device) => positionAt(device, now)).filter((position) => position[2] > 0)
      .flatMap(([x, y, z]) => [[x, y, z], [x, y, 0], null]);
    const size = history.region_m, longest = Math.max(...size);
    const sides = Object.fromEntries(["x", "y", "z"].map((name, n) => [`${name}axis`, {
      title: { text: `${name} (m)`, font: { size: 12 } }, range: [-0.02 * size[n], size[n]], gridcolor: "@grid",
      zerolinecolor: "@grid", backgroundcolor: "@page", showbackground: true, color: "@muted", tickfont: { size: 11 } }]));
    return { data: [
      line(poles, "@faint", 1.5, 0.6, "dot"), line(links, "@server", 2, 0.4),
      line(history.server_m.slice(now).filter(Boolean), "@faint", 2, 0.6, "dot"), line(path, "@server", 5, 1),
      points("active", inState("a"), { symbol: "circle", size: 6, color: "@active" }),
      points("present, off", inState("p"), { symbol: "circle-open", size: 6, color: "@active", line: { color: "@active", width: 2 } }),
      points("link failed", inState("f"), { symbol: "square", size: 6, color: "@failed" }),
      points("departed", inState("lg"), { symbol: "cross", size: 4, color: "@faint" }),
      { type: "scatter3d", mode: "markers", name: "server", hoverinfo: "text", x: here ? [here[0]] : [], y: here ? [here[1]] : [],
        z: here ? [here[2]] : [], hovertext: ["server"], marker: { symbol: "diamond", size: 8, color: "@server" } }],
      layout: { margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: true,
        legend: { orientation: "h", x: 0, y: 0, yanchor: "bottom", itemsizing: "constant", font: { size: 12, color: "@muted" } },
        scene: { ...sides, domain: { x: [0, 1], y: [0.07, 1] }, aspectmode: "manual", camera, uirevision: "kept",
          aspectratio: { x: size[0] / longest, y: size[1] / longest, z: size[2] / longest } } } };
  };

  const batteriesOfRun = () => get("batteries") && (history.server_battery_j || history.devices.some((device) => device.battery_j));
  const showRound = (index) => {
    now = Math.max(0, Math.min(history.rounds.length - 1, index));
    get("round").value = now;
    get("now").textContent = history.rounds[now];
    const server = history.server_m[now];
    const active = history.devices.filter((device) => device.states[now] === "a").length;
    const present = history.devices.filter((device) => "apfl".includes(device.states[now])).length;
    get("round-summary").textContent = `Round ${history.rounds[now]}: ${active} of ${present} devices active` +
      (server ? `, server at ${server.map((c) => c.toFixed(0)).join(", ")} m.` : ".");
    Plotly.relayout("presence", { shapes: [frame()] });
    if (batteriesOfRun()) Plotly.relayout("batteries", { shapes: [frame()] });
    show("flight", flight());
  };
  const showRun = (number, round) => {
    history = report.histories[number];
    now = Math.min(round, history.rounds.length - 1);
    get("round").max = history.rounds.length - 1;
    show("presence", presence()).then((element) => {
      element.removeAllListeners("plotly_click");
      element.on("plotly_click", (event) => showRound(history.rounds.indexOf(event.points[0].x)));
    });
    if (get("batteries")) get("battery-card").hidden = !batteriesOfRun();
    if (batteriesOfRun()) show("batteries", batteries());
    showRound(now);
    get("flight").removeAllListeners("plotly_relayout");
    get("flight").on("plotly_relayout", (change) => { camera = change["scene.camera"] || camera; });
  };

  let playing = null;
  const stop = () => { clearInterval(playing); playing = null; get("play").textContent = "Play"; };
  get("play").addEventListener("click", () => {
    if (playing) return stop();
    get("play").textContent = "Pause";
    if (now === history.rounds.length - 1) showRound(0);
    playing = setInterval(() => (now < history.rounds.length - 1 ? showRound(now + 1) : stop()), 450);
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

  const useTheme = (name) => {
    theme = name;
    document.documentElement.dataset.theme = theme;
    get("theme").textContent = theme === "dark" ? "Light" : "Dark";
    showCharts();
    showRun(+get("run").value, now);
  };
  get("theme").addEventListener("click", () => useTheme(theme === "dark" ? "light" : "dark"));
  now = history.rounds.length - 1;
  const requested = /theme=(light|dark)/.exec(location.hash);
  useTheme(requested ? requested[1] : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
})();
