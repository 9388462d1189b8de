import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { ICONS } from "./icons.config.js";

/** Makes the icon sprite: one `<symbol id="NAME">` per icon, so templates and islands share one small cached file. */
function iconSprite(): Plugin {
  const make = (): string => {
    const symbols = ICONS.map((name) => {
      const path = fileURLToPath(new URL(`./node_modules/bootstrap-icons/icons/${name}.svg`, import.meta.url));
      const body = readFileSync(path, "utf8").replace(/^[\s\S]*?<svg[^>]*>/, "").replace(/<\/svg>\s*$/, "").replace(/\n\s*/g, "");
      return `<symbol id="${name}" viewBox="0 0 16 16" fill="currentColor">${body}</symbol>`;
    });
    return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("\n")}</svg>\n`;
  };
  return {
    name: "icon-sprite",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "icons.svg", source: make() });
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!request.url?.split("?")[0]?.endsWith("/icons.svg")) return next();
        response.setHeader("Content-Type", "image/svg+xml");
        response.end(make());
      });
    },
  };
}

export default defineConfig({
  // Django serves static/dist as a static-files folder at STATIC_URL, so the built files lie directly under /static/.
  base: "/static/",
  plugins: [iconSprite()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    manifest: "manifest.json",
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // Data addresses would need a wider content-security policy for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: "src/main.ts" },
  },
  server: { host: "127.0.0.1", port: 5173, strictPort: true },
  // Of two cores one would stay idle by default.
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node", maxWorkers: "100%" },
});
