"use strict";
// Small helps that pages share. Pages work without scripts wherever a form can do it.
