export function mount(host: HTMLElement): void { host.dataset.ready = ""; }
