import { setNonce } from 'get-nonce';

/** The CSP nonce that the server inserts into the page, for the styles of the editor and of dialogs. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

setNonce(nonce);
