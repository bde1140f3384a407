import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["node_modules/"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "arrow-body-style": "error",
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "max-depth": ["error", 4],
      "max-lines": ["error", 420],
      "max-lines-per-function": ["error", 60],
      "no-control-regex": "off", // hostile names hold control characters
      "no-else-return": "error",
      "no-eval": "error",
      "no-implicit-globals": "error",
      "no-new-func": "error",
      "no-param-reassign": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text of a dump must not become markup." },
        { property: "outerHTML", message: "Text of a dump must not become markup." },
      ],
      "no-shadow": "error",
      "no-throw-literal": "error",
      "no-undef": "error",
      "no-unneeded-ternary": "error",
      "no-unused-vars": "error",
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
  { files: ["src/**"], languageOptions: { globals: globals.browser } },
  { files: ["*.js"], languageOptions: { globals: globals.node } },
  {
    files: ["tests/**"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
    rules: { "no-restricted-properties": "off" },
  },
];
