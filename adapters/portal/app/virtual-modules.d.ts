/** Modules that the build makes (vite.config.ts). */
declare module 'virtual:snippets' {
  /** Code that checks the signature of a request, one entry per language. */
  const snippets: readonly { readonly name: string; readonly code: string }[]
  export default snippets
}
