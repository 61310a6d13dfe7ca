/** Express 4, installed under an alias, has the face of Express 5 as far as these tests see it. */
declare module 'express4' {
  import express from 'express'
  export default express
}
