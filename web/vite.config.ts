import { defineConfig } from "vite";

// One script and one style sheet under fixed names, since the bundle is committed.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/scdn/studio/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "studio.js",
        chunkFileNames: "[name].js",
        assetFileNames: "studio[extname]",
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8645" } },
});
