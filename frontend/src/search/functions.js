/** Functions of the user's program: by their own name, without the functions around them. */

/** @param {string} name qualified: `train.<locals>.loss` @returns {string} the same without the functions around it: `loss` */
export const shortFunction = (name) => name.split("<locals>.").at(-1) ?? name;
