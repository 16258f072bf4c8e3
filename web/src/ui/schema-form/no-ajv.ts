// @rjsf/core imports Ajv for its own test helper. Ajv needs `eval`, which our content security policy forbids.
export default {};
