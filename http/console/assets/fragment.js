// The secret of a link is behind its #, so that no log and no address that a browser sends has it. It goes into the field
// of its name, and out of the address.
const [name, value] = location.hash.slice(1).split("=");
const field = document.querySelector("main form input");

if (value && field?.name === name) {
  field.value = value;
  history.replaceState(null, "", location.pathname);
  if (field.form.hasAttribute("data-submit")) field.form.requestSubmit();
}
