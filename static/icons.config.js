// Bootstrap Icons that pages and islands use. The build puts them into one sprite, dist/icons.svg.
export const ICONS = [
  "arrow-clockwise", "arrow-counterclockwise", "arrow-down", "arrow-left", "arrow-repeat", "arrow-right", "arrow-up",
  "bar-chart-line", "bell", "bezier2", "book", "box-arrow-right", "box-arrow-up-right", "card-list", "chat-left-text",
  "check", "check-circle", "check-circle-fill", "check-lg", "chevron-down", "chevron-left", "chevron-right", "chevron-up",
  "circle", "clipboard", "clock", "clock-history", "code-slash", "collection", "cpu", "dash", "dash-circle", "dash-lg", "database",
  "diagram-2", "diagram-3", "download", "exclamation-circle", "exclamation-triangle", "eye", "eye-slash",
  "file-earmark-arrow-up", "file-medical", "file-text", "filter", "flag", "folder2-open", "funnel", "gear", "grid-3x3",
  "hash", "hourglass-split", "info-circle", "journal-text", "keyboard", "lightning", "link-45deg", "list-check", "list-ul",
  "lock", "magic", "pause-fill", "people", "pencil", "person", "play-fill", "plus-lg", "question-circle", "question-lg", "save",
  "scissors", "search", "share", "signpost-split", "slash-circle", "sliders", "stop-fill", "table", "three-dots", "trash",
  "bounding-box", "bullseye", "chat-square-text", "cursor", "diamond", "fast-forward", "film", "layers-half", "music-note", "repeat",
  "skip-end-fill", "skip-start-fill", "soundwave", "star-fill", "unlock", "volume-mute", "volume-up", "zoom-in", "zoom-out",
  "cloud-slash", "type-underline", "union", "upload", "arrows-expand-vertical", "shuffle", "pin-angle", "x-circle", "x-lg",
];
