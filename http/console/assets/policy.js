// htmx may write the server's answers into the page: the only HTML that the content policy lets a script write. Code in
// attributes is refused.
htmx.registerExtension("policy", {
  init(api) {
    const rules = { createHTML: (html) => html, createScript: () => "" };
    const policy = window.trustedTypes ? trustedTypes.createPolicy("htmx", rules) : rules;
    const refuse = function () { throw new EvalError("attributes contain no code"); };
    api.initSecurity(policy, refuse, refuse);
  },
});

// What repeats waits while the reader has unfolded a part of it. What is gone from the page is asked for at the document.
document.addEventListener("htmx:before:request", (event) => {
  if (event.target.getAttribute?.("hx-target") === "this" && event.target.querySelector("details[open]")) event.preventDefault();
});
