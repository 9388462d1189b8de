// Bootstrap's single scripts carry no types; they are imported for their effect only.
declare module "bootstrap/js/dist/*";
