/** Modules that the build makes (vite.config.ts). */
declare module 'virtual:snippets' {
  /** Code that checks the signature of a request, one entry per language. */
  const snippets: readonly { readonly name: string; readonly code: string }[]
  export default snippets
}

/** The texts of `en.json` that are not loaded first. */
declare module '*/en.json?other' {
  const texts: Readonly<Record<string, string>>
  export default texts
}

declare module '*.css'

/** The address of a file of style. */
declare module '*.css?url' {
  const url: string
  export default url
}
